/** No command prints a control character of a package, a model, a server, a file or an environment. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { encodeTrajectory } from '@toolenv/core/recording';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finished } from '../test/captured.ts';
import { hostile, hostileKey } from '../test/hostile-text.ts';
import { someEpisode } from '../test/show/some-episode.ts';
import { startCli } from '../test/start-cli.ts';

let project: string;
let server: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'toolenv-hostile-'));
  const modules = join(project, 'node_modules');
  await mkdir(join(modules, 'hostile'), { recursive: true });
  await symlink(join(import.meta.dirname, '../../../node_modules/@toolenv'), join(modules, '@toolenv'));
  await symlink(
    join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol'),
    join(modules, '@modelcontextprotocol'),
  );
  const text = await readFile(join(import.meta.dirname, '../test/hostile-text.ts'), 'utf8');
  for (const [name, code] of Object.entries(files))
    await writeFile(join(modules, 'hostile', name), text + code);
  const entries = { envs: 'env', tools: 'tool', trainers: 'trainer', policies: 'policy' };
  const toolenv = Object.entries(entries).map(([kind, name]) => [kind, { [`${name}-v1`]: `./${name}` }]);
  await writeFile(
    join(modules, 'hostile/package.json'),
    JSON.stringify({
      // Node 22 and 24 load no file of a package whose name has a lone surrogate.
      name: `@toolenv/envs-qa${hostileKey}`,
      version: `1.0.0${hostile}`,
      type: 'module',
      keywords: [hostile],
      exports: Object.fromEntries(Object.values(entries).map((name) => [`./${name}`, `./${name}.js`])),
      toolenv: { spec: 'v1', ...Object.fromEntries(toolenv) },
    }),
  );
  await mkdir(join(modules, 'broken'));
  const broken = { name: `broken${hostile}`, version: hostile, toolenv: { spec: hostile } };
  await writeFile(join(modules, 'broken/package.json'), JSON.stringify(broken));
  server = `'${process.execPath}' '${join(modules, 'hostile/server.js')}'`;
  await writeRun(join(project, 'run'));
  await symlink('run', join(project, `run${hostileKey}`.replaceAll('/', '')));
});
afterAll(() => rm(project, { recursive: true }));

const files = {
  'env.js': `
import { defineToolEnv, text, ToolEnvError } from '@toolenv/core';
const tool = (name, execute) => ({ name, description: hostile, inputSchema: { type: 'object', properties: { [hostileKey]: { type: 'string', description: hostile } } }, execute });
export default defineToolEnv({
  name: 'env-v1',
  description: hostile,
  options: { properties: {
    [hostileKey]: { type: 'string', default: hostile, description: hostile },
    size: { type: 'integer', default: 1, description: hostile },
    how: { enum: ['plays', 'aborts', 'throws', 'refuses'], default: 'plays', description: hostile },
    choice: { enum: [hostile, 'other'], default: hostile, description: hostile },
  } },
  rewards: { em: { kind: 'outcome' }, ['r' + hostileKey]: { kind: 'outcome' } },
  limits: { maxTurns: 2, maxCallsPerTurn: 1, toolTimeout: 1000, maxToolCharacters: 1000 },
  tasks({ options }) {
    if (options.how === 'refuses') throw new ToolEnvError('usage.hostile', hostile);
    return { train: [hostile], validation: [hostile], test: [hostile] };
  },
  episode: ({ options }) => {
    if (options.how === 'throws') throw new TypeError(hostile);
    return {
      messages: [{ role: 'system', content: hostile }, { role: 'user', content: hostile }],
      tools: [tool('look', async () => {
        if (options.how === 'aborts') throw new ToolEnvError('infrastructure.hostile', hostile);
        return text(hostile);
      }), tool('n' + hostile, async () => text(hostile))],
      onAnswer: () => ({ rewards: { em: 1, ['r' + hostileKey]: 1 }, end: hostile }),
    };
  },
});`,
  'tool.js': `
export default { name: 'tool-v1', description: hostile, example: { material: { hostile }, calls: [{ hostile }] },
  create: async () => ({ name: 'search', description: hostile, inputSchema: { type: 'object' }, execute: async () => { throw new Error(hostile); } }) };`,
  'policy.js': `
import { definePolicy } from '@toolenv/core/plugins';
export default definePolicy({
  name: 'policy-v1', description: hostile,
  options: { type: 'object', properties: { way: { type: 'string', default: 'calls', description: hostile } } },
  compute: async () => { throw new Error(hostile); },
  async open({ way }) {
    if (way === 'fails') throw new Error(hostile);
    return {
      spec: { name: hostile, contextLength: 1000 },
      async act({ messages }) {
        if (messages.some(({ role }) => role === 'tool')) return { text: hostile, toolCalls: [], stopReason: 'stop' };
        const call = { id: '1', name: way === 'errs' ? hostile : 'look', arguments: { [hostileKey]: hostile } };
        return { text: hostile, toolCalls: [call], stopReason: 'tool_call' };
      },
      learner: { step: async () => ({ gradNorm: 1 }), save: async () => {}, load: async () => {} },
      async close() {},
    };
  },
});`,
  'trainer.js': `
import { collect, rollout } from '@toolenv/core';
export default { name: 'trainer-v1', description: hostile,
  options: { type: 'object', properties: { steps: { type: 'integer', default: 1, description: hostile }, note: { type: 'string', default: hostile, description: hostile } } },
  async *train({ env, policy, seed, signal }) {
    const episodes = [{ task: hostile, group: 0, sample: 0 }];
    const sampling = { maxTokens: 8, temperature: 1 };
    const trajectories = await collect(rollout({ env, policy, episodes, sampling, seed, signal, concurrency: 1 }));
    yield { type: 'rollout', step: 1, metrics: { reward: 1, ['rewards/' + hostile + '/mean']: 1 }, trajectories };
    throw new Error(hostile);
  } };`,
  'server.js': `
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
process.stderr.write(hostile);
if (process.argv[2] === 'dies') process.exit(3);
const server = new Server({ name: hostile, version: hostile }, { capabilities: { tools: {} } });
const tool = (name) => ({ name, title: hostile, description: hostile, inputSchema: { type: 'object', properties: { ['p' + hostileKey]: { description: hostile } } } });
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [...['say', 'fail', 'refuse', 'die', 'n' + hostile].map(tool), { ...tool('bad' + hostile), inputSchema: { type: 'object', pattern: '(' + hostile } }] }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  if (params.name === 'die') process.exit(3);
  if (params.name === 'fail') throw new McpError(-32603, hostile);
  return { content: [{ type: 'text', text: hostile }, { type: 'resource', resource: { uri: hostile, text: hostile } }], isError: params.name === 'refuse' };
});
await server.connect(new StdioServerTransport());`,
};

async function writeRun(folder: string): Promise<void> {
  await mkdir(folder);
  const call = { id: '0', name: hostile, arguments: { [hostile]: hostile } };
  const mistake = {
    code: 'invalid_arguments' as const,
    path: hostile,
    expected: hostile,
    received: hostile,
    hint: hostile,
  };
  const spec = { [hostile]: { kind: 'outcome' as const, range: [0, 1] as [number, number], weight: 1 } };
  const good = someEpisode(
    {
      episodeId: hostile,
      env: hostile,
      rewardSpec: spec,
      rewards: { [hostile]: 1 },
      outcome: { kind: 'terminated', reason: hostile },
    },
    [{ call, mistake, text: hostile, milliseconds: 1 }],
  );
  for (const step of good.steps) {
    step.action.text = hostile;
    for (const message of step.observation.messages) message.content = hostile;
  }
  await writeFile(join(folder, 'trajectories.jsonl'), `${encodeTrajectory(good)}\n`);
  const facts = {
    env: hostile,
    envVersion: hostile,
    policy: hostile,
    split: hostile,
    seed: 1,
    episodes: 1,
    aborted: 0,
    means: { [hostile]: 1 },
    outcomes: { [hostile]: 1 },
    reward: 1,
    toolCalls: 1,
    turns: 1,
    tokens: 1,
    seconds: 1,
    packages: { [hostile]: hostile },
  };
  await writeFile(join(folder, 'summary.json'), JSON.stringify(facts));
  await writeFile(join(project, 'torn.jsonl'), `{"version":1,"${hostile}`);
}

/** Control characters except line breaks and tabs, and characters that reverse text. */
const controls = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** The colours of this program: a single number. */
const colours = /\p{Cc}\[\d+m/gu;

const run = (args: string[], env: NodeJS.ProcessEnv = {}): Promise<Finished> =>
  startCli(args, project, { ...process.env, ...env }).finished;

function expectSafe(what: string, { stdout, stderr }: Pick<Finished, 'stdout' | 'stderr'>): void {
  const text = stdout + stderr;
  expect.soft(controls.exec(text)?.[0], `${what}: ${JSON.stringify(text.slice(0, 2_000))}`).toBeUndefined();
  // The text was shown. What the stderr of a server says is shown without the sequences of colours and the like.
  expect.soft(text, what).toMatch(/\\u001b\]52|\\u202e/);
}

const policy = ['--policy', 'hostile/policy-v1'];
const trainer = ['--trainer', 'hostile/trainer-v1'];
const commands = (): string[][] => [
  ['list'],
  ['list', '--json'],
  ['list', '--json', '--details'],
  ...['env', 'tool', 'policy', 'trainer'].map((name) => ['info', `hostile/${name}-v1`]),
  ['info', 'node_modules/hostile'],
  ['eval', 'hostile/env-v1', '--help'],
  ['eval', 'hostile/env-v1', ...policy, '--count', '1'],
  ['eval', 'hostile/env-v1', ...policy, '--count', '1', '--json', '--way', 'errs'],
  ['eval', 'hostile/env-v1', ...policy, '--count', '1', '--how', 'throws'],
  ['eval', 'hostile/env-v1', ...policy, '--count', '1', '--how', 'refuses'],
  ['train', 'hostile/env-v1', ...policy, ...trainer, '--out', 'trained', '--how', 'aborts'],
  ['check', 'hostile/env-v1', '--actions', '20', '--how', 'throws'],
  ['check', 'hostile/policy-v1'],
  ['check', 'run/trajectories.jsonl'],
  ['tools', '--mcp', server],
  ['tools', '--mcp', server, '--call', 'say'],
  ['tools', '--mcp', server, '--call', 'fail'],
  ['tools', '--mcp', server, '--call', 'refuse'],
  ['tools', '--mcp', server, '--call', 'die'],
  ['tools', '--mcp', `${server} dies`],
  ['init', 'made', '--mcp', `${server} dies`],
  ['show', 'run'],
  ['show', 'run', '--json'],
  ['show', 'run', '--tokens'],
  ['show', `none${hostileKey}`],
  ['show', `run${hostileKey}`.replaceAll('/', '')],
  ['doctor'],
];

describe('a hostile text', () => {
  it('is shown as escapes by every command', async () => {
    const left = commands();
    const work = async () => {
      for (let args = left.shift(); args; args = left.shift()) expectSafe(args.join(' '), await run(args));
    };
    await Promise.all([work(), work()]);
  }, 600_000);

  it('is shown as escapes in colour too', async () => {
    for (const args of [
      ['info', 'hostile/env-v1'],
      ['show', 'run'],
      ['check', 'run/trajectories.jsonl'],
    ]) {
      const { stdout, stderr } = await run(args, { FORCE_COLOR: '1', NO_COLOR: undefined });
      expect(stdout, args.join(' ')).toMatch(colours);
      expectSafe(args.join(' '), {
        stdout: stdout.replace(colours, ''),
        stderr: stderr.replace(colours, ''),
      });
    }
  }, 300_000);

  it('stays the same text in JSON', async () => {
    const { stdout } = await run(['list', '--json']);
    const [first] = (JSON.parse(stdout) as { ref: string; version: string }[]).filter(({ ref }) =>
      ref.startsWith('hostile/'),
    );
    expect(first!.version).toBe(`1.0.0${hostile}`);
    const shown = JSON.parse((await run(['show', 'run', '--json'])).stdout) as { episodeId: string };
    expect(shown.episodeId).toBe(hostile);
  });

  it('of a served environment reaches its clients, and its errors the terminal as escapes', async () => {
    const { child, finished } = startCli(
      ['serve', 'hostile/env-v1', '--http', '0', '--how', 'throws'],
      project,
    );
    let printed = '';
    child.stderr!.on('data', (text) => {
      printed += text;
    });
    await expect.poll(() => printed, { timeout: 120_000 }).toContain('/mcp');
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(/http:\S+/.exec(printed)![0])));
    expect(client.getServerVersion()?.version).toBe(`1.0.0${hostile}`);
    await client.listTools().catch(() => {});
    child.kill('SIGTERM');
    expectSafe('serve', await finished);
    await client.close();
  });

  it('does not make a line of its own in a list', async () => {
    await mkdir(join(project, 'node_modules/liar'));
    const json = {
      name: '@toolenv/envs-qa',
      version: '9.9.9\n  @toolenv/fake/maze-v1  1.0.0',
      exports: { './a': './a.js' },
      toolenv: { spec: 'v1', envs: { 'bridge-v1': './a' } },
    };
    await writeFile(join(project, 'node_modules/liar/package.json'), JSON.stringify(json));
    const { stdout } = await run(['list']);
    expect(stdout).not.toMatch(/^ *@toolenv\/fake/m);
    expect(stdout).toMatch(/^ {2}liar\/bridge-v1 +9\.9\.9 .* its package\.json says "@toolenv\/envs-qa"$/m);
    expect(stdout).toMatch(/^ {2}@toolenv\/envs-qa\/bridge-v1 +\d+\.\d+\.\d+$/m);
  });
});
