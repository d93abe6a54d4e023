/** Names without a package: on the command line, in a package with two plugins of one name, and in what a run records. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fullName } from '../../src/subject/full-name.ts';
import { fixture } from '../fixture.ts';
import { runCli, runCliIn } from '../run-cli.ts';

it.each([
  ['bridge-v1', '@toolenv/envs-qa/bridge-v1'],
  ['bridge', '@toolenv/envs-qa/bridge-v1'],
  ['lookup?topK=3', '@toolenv/envs-qa/lookup-v1?topK=3'],
  ['@toolenv/envs-qa/bridge-v1', '@toolenv/envs-qa/bridge-v1'],
  ['openai:http://127.0.0.1:8000/v1#bridge', 'openai:http://127.0.0.1:8000/v1#bridge'],
  ['ppo', 'ppo'],
  ['packages', 'packages'],
])('%s is %s', (name, ref) => {
  expect(fullName(name, ['envs'])).toBe(ref);
});

/** A folder with an installed package for each name, which lists environments. */
async function installed(packages: Record<string, string[]>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-names-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, envs] of Object.entries(packages)) {
    const at = join(folder, 'node_modules', name);
    await mkdir(at, { recursive: true });
    const toolenv = { spec: 'v1', envs: Object.fromEntries(envs.map((env) => [env, `./${env}`])) };
    await writeFile(join(at, 'package.json'), JSON.stringify({ name, version: '1.0.0', toolenv }));
  }
  return folder;
}

it('takes the newest version of a name, and refuses a name of two packages', async () => {
  const folder = await installed({ one: ['maze-v2', 'maze-v10', 'den-v1'], two: ['den-v1'] });
  const newest = await runCliIn(folder, 'info', 'maze');
  expect(newest.stderr).toContain('one@1.0.0: the manifest\'s "./maze-v10" is not in "exports"');
  expect(await runCliIn(folder, 'info', 'den')).toMatchObject({
    code: 2,
    stderr: 'toolenv: "den" is the name of one/den-v1 and of two/den-v1: give one of these references.\n',
  });
});

it('a folder of the name counts first', async () => {
  const folder = await installed({ one: ['maze-v1'] });
  await mkdir(join(folder, 'maze'));
  const { stderr } = await runCliIn(folder, 'info', 'maze');
  expect(stderr).toContain('has no plugins');
});

it('a run records the references', async () => {
  const out = join(await mkdtemp(join(tmpdir(), 'toolenv-names-')), 'run');
  const args = ['--policy', 'weight', '--trainer', 'nudge', '--evaluate-on', 'lamp?size=3', '--steps', '1'];
  const { code, stderr } = await runCli('train', 'lamp-v1', ...args, '--out', out);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const config = JSON.parse(await readFile(join(out, 'config.json'), 'utf8'));
  expect(config).toMatchObject({ env: fixture.env, policy: fixture.policy, trainer: fixture.trainer });
});
