/** Builds the packages before the tests, so that a test that starts a built program never starts an old one. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export default function build(): void {
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  const root = join(import.meta.dirname, '../..');
  execFileSync(process.execPath, [join(typescript, 'bin/tsc'), '-b'], { cwd: root, stdio: 'inherit' });
}
