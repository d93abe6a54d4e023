/** Yarn's Plug'n'Play, as a stranger installs with it: no node_modules, and all commands work. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from './attempt.ts';
import type { Sandbox } from './sandbox.ts';
import { checkpoint, few, trainTwoSteps } from './templates.ts';

const yarn = join(import.meta.dirname, '../../node_modules/@yarnpkg/cli-dist/bin/yarn.js');
const packages = ['toolenv', '@toolenv/envs-classic', '@toolenv/policy', '@toolenv/trainer-grpo'];

export async function checkYarn({ folder: parent, run }: Sandbox): Promise<void> {
  const folder = join(parent, 'yarn');
  await mkdir(folder);
  // As docs/guides/troubleshooting.md says.
  await writeFile(join(folder, '.yarnrc.yml'), 'enableScripts: false\npnpEnableEsmLoader: true\n');
  await writeFile(join(folder, 'package.json'), '{"name":"stranger","private":true}');
  await writeFile(join(folder, 'yarn.lock'), '');
  const runYarn = (...words: string[]) => run(process.execPath, [yarn, ...words], folder);
  const toolenv = (...words: string[]) => runYarn('toolenv', ...words);
  if (!(await attempt('yarn add', () => runYarn('add', ...packages)))) return;
  await attempt('yarn toolenv list', async () => {
    const listed: { ref: string }[] = JSON.parse(await toolenv('list', '--json'));
    const expected =
      '@toolenv/envs-classic/arithmetic-v1 @toolenv/policy/transformer-v1 @toolenv/trainer-grpo/grpo-v1';
    const missing = expected.split(' ').filter((ref) => !listed.some((each) => each.ref === ref));
    if (missing.length > 0) throw new Error(`${missing.join(', ')} is not in ${JSON.stringify(listed)}`);
  });
  await attempt('yarn toolenv doctor', async () => {
    const { toolenv: installed } = JSON.parse(await toolenv('doctor', '--json'));
    if (Object.keys(installed.packages).length !== 1) throw new Error(JSON.stringify(installed));
  });
  await attempt('yarn toolenv serve, without its package', async () => {
    const failed: Error = await toolenv('serve', '@toolenv/envs-classic/arithmetic-v1').then(
      () => new Error('no error'),
      (error) => error,
    );
    if (!failed.message.includes('npm install @toolenv/mcp')) throw failed;
  });
  await cp(checkpoint, join(folder, 'checkpoint'), { recursive: true });
  await attempt('yarn toolenv train', () =>
    trainTwoSteps(folder, 'runs/first', ['@toolenv/envs-classic/arithmetic-v1', ...few], toolenv),
  );
}
