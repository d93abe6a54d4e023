/** `toolenv list`: what is installed where the user works and beside the command, read without running it. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PluginInfo } from '@toolenv/core/plugins';
import { validate, wireSchemas } from '@toolenv/core/schemas';
import { beforeAll, expect, it } from 'vitest';
import type { PluginDetails } from '../../src/subject/plugin-details.ts';
import { fixture } from '../fixture.ts';
import { runCli, runCliIn } from '../run-cli.ts';

let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'toolenv-list-'));
  const install = async (name: string, toolenv: unknown): Promise<void> => {
    const folder = join(project, 'node_modules', name);
    await mkdir(folder, { recursive: true });
    const json = { name, version: '2.0.1', type: 'module', exports: { './a': './a.js' }, toolenv };
    await writeFile(join(folder, 'package.json'), JSON.stringify(json));
    await writeFile(
      join(folder, 'a.js'),
      `(await import('node:fs')).writeFileSync(new URL('ran', import.meta.url), '');`,
    );
  };
  await install('good', { spec: 'v1', envs: { 'maze-v3': './a' }, policies: { 'walker-v1': './a' } });
  await install('later', { spec: 'v2', envs: { 'maze-v1': './a' } });
  await install('broken', { spec: 'v1', envs: { maze: './a' } });
});

it('prints an array of what is installed, runs none of it, and says what it leaves out and why', async () => {
  const { code, stdout, stderr } = await runCliIn(project, 'list', '--json');
  expect(code).toBe(0);
  const plugins = JSON.parse(stdout) as PluginInfo[];
  const good = { package: 'good', version: '2.0.1' };
  expect(plugins.filter((plugin) => plugin.package === 'good')).toEqual([
    { ...good, ref: 'good/maze-v3', kind: 'envs' },
    { ...good, ref: 'good/walker-v1', kind: 'policies' },
  ]);
  expect(plugins.map(({ ref }) => ref)).toContain('@toolenv/envs-qa/bridge-v1');
  expect(plugins.some((plugin) => ['later', 'broken'].includes(plugin.package))).toBe(false);
  expect(stderr).toContain('Left out: later@2.0.1 speaks toolenv spec v2, and this toolenv speaks v1: ');
  expect(stderr).toMatch(/Left out: .*broken\/package\.json: toolenv\/envs: expected /);
  expect(existsSync(join(project, 'node_modules/good/ran'))).toBe(false);
});

it('is a list by kind for people, of one kind on request', async () => {
  const { stdout } = await runCli('list');
  expect(stdout).toMatch(/^envs\n(?: {2}\S+ +\d+\.\d+\.\d+\n)+\n/);
  expect(stdout).toMatch(/\ntrainers\n(?:.*\n)* {2}fixture-plugin\/nudge-v1 +1\.2\.3\n/);
  const policies = await runCli('list', '--kind', 'policies', '--json');
  const own = (name: string, ref: string) => ({
    ref: `${name}/${ref}`,
    kind: 'policies',
    package: name,
    version: expect.any(String),
  });
  expect(JSON.parse(policies.stdout)).toEqual([
    own('@toolenv/judge', 'stand-in-v1'),
    own('@toolenv/openai', 'openai-v1'),
    own('@toolenv/policy', 'transformer-v1'),
    own('@toolenv/tinker', 'tinker-v1'),
    own('fixture-plugin', 'idle-v1'),
    { ref: fixture.policy, kind: 'policies', package: 'fixture-plugin', version: '1.2.3' },
  ]);
});

it('adds what the plugins say of themselves on request, and why a plugin cannot be loaded', async () => {
  const { code, stdout } = await runCliIn(project, 'list', '--json', '--details');
  expect(code).toBe(0);
  const details = JSON.parse(stdout) as PluginDetails[];
  for (const each of details) expect(validate(wireSchemas['plugin-details'], each)).toEqual([]);
  const of = (ref: string) => details.find((each) => each.ref === ref);
  expect(of('@toolenv/envs-qa/hotpotqa-v1')).toMatchObject({
    description: expect.stringContaining('HotpotQA'),
    options: { required: ['path'], properties: { topK: { default: 3 } } },
    rewards: { em: { kind: 'outcome', range: [0, 1], weight: 1 } },
    limits: { maxTurns: 5 },
    roles: { search: '@toolenv/tools-search/search-v1' },
    capabilities: { seedable: true, concurrent: true, networked: false, remote: false },
  });
  expect(of('good/maze-v3')).toEqual({
    ref: 'good/maze-v3',
    kind: 'envs',
    package: 'good',
    version: '2.0.1',
    error: 'good@2.0.1: ./a has no default export: it must be the environment.',
  });
  const text = await runCliIn(project, 'list', '--details');
  expect(text.stdout).toMatch(
    /\n {2}@toolenv\/envs-qa\/bridge-v1 +\d+\.\d+\.\d+\n {6}Two-hop questions about a synthetic world/,
  );
  expect(text.stdout).toContain('      cannot be loaded: good@2.0.1: ./a has no default export');
  // A pipe gets no escape sequences.
  expect(text.stdout).not.toContain('\u001b');
});

it('refuses an unknown kind in one line, with exit code 2', async () => {
  expect(await runCli('list', '--kind', 'env')).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'toolenv: --kind env: give one of envs, tools, sandboxes, trainers, losses, advantages, scorers, policies.\n',
  });
});
