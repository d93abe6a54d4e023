/** checkPlugin in a process whose standard input nothing has accessed. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { goodPlugin } from '../test/broken-plugins.ts';

test('does not report the standard streams of a process whose input is a pipe', async () => {
  const lamp = `import process from 'node:process';\nvoid process.pid;\n${goodPlugin['lamp.js']}`;
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-plugin-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, content] of Object.entries({ ...goodPlugin, 'lamp.js': lamp }))
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  const kit = JSON.stringify(join(import.meta.dirname, '../src/index.ts'));
  const script = `import { checkPlugin, reportText } from ${kit};
    console.log(reportText(await checkPlugin(${JSON.stringify(folder)})));`;
  const source = ['--import', import.meta.resolve('tsx'), '--conditions=@toolenv/source'];
  const args = [...source, '--input-type=module', '--eval', script];
  // The child's standard input is a pipe that nothing has accessed yet.
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe('lamp@1.0.0: 7 rules hold, 0 broken, 0 not checked.\n');
});
