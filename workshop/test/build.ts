/** Builds the packages, the page of runs if there is none, and the command's fixture before the tests, so that a test that starts a built program never starts an old one. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export default function build(): void {
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  const root = join(import.meta.dirname, '../..');
  const projects = ['.', 'packages/cli/test/fixture-plugin'];
  const args = [join(typescript, 'bin/tsc'), '-b', ...projects];
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  // A server of the page refuses to start without it. `browser-test` builds it anew.
  if (!existsSync(join(root, 'packages/view/dist/page')))
    execFileSync('npm', ['run', '-s', 'build', '-w', '@toolenv/view'], { cwd: root, stdio: 'inherit' });
}
