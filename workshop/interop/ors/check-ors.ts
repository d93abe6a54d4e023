/**
 * `npm run interop -- ors`: serves an environment to the Python clients of ORS and OpenReward, and plays the environments of their
 * servers here.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { defineTool, defineToolEnv, openEnv, playTask, ToolEnvError } from '@toolenv/core';
import { serveOrs } from '@toolenv/ors';
import { checkEnv } from '@toolenv/testing';
import { closing } from '../../closing.ts';
import { check } from '../check.ts';
import { freePort } from '../free-port.ts';
import { answering, jsonOf } from '../programs.ts';
import { cuttingProxy } from './cutting-proxy.ts';

const packages = ['ors', 'openreward'] as const;

/** 200 KB with a space at every border of a chunk, as ORS's own server cuts it. */
const borders = `${' '.repeat(4_095)}x`.repeat(50);
const words = (count: number) => Array.from({ length: count }, (_, i) => `é${i}`).join(' ');

const echo = defineToolEnv({
  name: 'echo-v1',
  description: 'Says what it is told.',
  limits: { maxToolCharacters: 300_000 },
  tasks: { train: [0, 1, 2, 3, 4], test: [5] },
  rewards: { asked: { kind: 'process' }, right: { kind: 'outcome' } },
  episode: ({ task }) => ({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: `Say ${task}.` },
    ],
    tools: [
      defineTool('ask', 'Asks.', { text: { type: 'string' } }, ({ text }) => `You said ${text}.`),
      defineTool('big', 'Says much.', {}, () => borders),
      defineTool('boom', 'Fails.', {}, () => {
        throw new ToolEnvError('infrastructure.quake', 'The house fell.');
      }),
    ],
    onToolResults: (calls) => {
      const asked = calls.some(({ call, mistake }) => 'name' in call && call.name === 'ask' && !mistake);
      return asked ? { rewards: { asked: 0.25 } } : undefined;
    },
    onAnswer: (text) => ({ rewards: { right: Number(text === String(task)) }, end: 'answered' }),
  }),
});

/** @param python Has the packages of ors.txt. */
export async function checkOrs(python: string): Promise<void> {
  for (const name of packages) {
    await checkClient(python, name);
    await checkServer(python, name);
  }
}

interface Episode {
  prompt: string[];
  tools: string[];
  reward: number;
  finished: boolean;
  text: string;
}

interface Seen {
  splits: string[];
  shared: string[];
  count: number;
  tasks: unknown[];
  last: unknown;
  range: unknown[];
  episodes: Episode[];
  placed: Episode;
  many: number[];
  mistakes: string[];
  big: string;
  cut: string;
  terminal?: boolean;
  roles?: string[];
  answered?: boolean;
}

/** A client of Python plays our environment. */
async function checkClient(python: string, name: (typeof packages)[number]): Promise<void> {
  await using env = await openEnv(echo);
  const errors: unknown[] = [];
  await using service = closing(await serveOrs(env, { onError: (error) => void errors.push(error) }));
  const scripts = [0, 1, 2].map((task) => [
    ['ask', { text: 'hello' }],
    ['submit', { text: String(task === 2 ? 'wrong' : task) }],
  ]);
  const mistakes = [
    ['nothing', {}],
    ['ask', { text: 3 }],
    ['submit', { answer: '0' }],
  ];
  const given = { environment: service.environment, scripts, mistakes, big: ['big', {}] };
  const script = join(import.meta.dirname, 'play.py');
  const seen = await jsonOf<Seen>(python, [script, name, service.url], given);
  const expect = expecting(`${name}'s client`);
  const at = (index: number) => ({ split: 'train', index });
  expect('splits', seen.splits, ['train', 'test']);
  expect('shared tools', seen.shared, ['ask', 'big', 'boom', 'submit']);
  expect(
    'tasks, their number, one from the end, and a range',
    [seen.count, seen.tasks, seen.last, seen.range],
    [5, [at(0), at(1), at(2)], at(4), [at(3), at(4)]],
  );
  expect(
    'episodes, with their rewards and ends',
    seen.episodes.map(({ reward, finished }) => [reward, finished]),
    [
      [1.25, true],
      [1.25, true],
      [0.25, true],
    ],
  );
  expect(
    'the prompt and the tools of a session',
    [seen.placed.prompt, seen.placed.tools],
    [['Be brief.', 'Say 1.'], seen.shared],
  );
  expect('64 sessions at once', seen.many, Array(64).fill(1.25));
  const isTold = ['nothing', 'text', 'submit'].every((word, i) => seen.mistakes[i]?.includes(word));
  expect('mistakes of the model are errors of a call', isTold, true);
  expect('200 KB with a space at every border', seen.big === borders, true);
  expect('a stream that was cut goes on', seen.cut === borders, true);
  if (name === 'openreward') {
    expect(
      'the terminal tool, and messages with roles',
      [seen.terminal, seen.roles, seen.answered],
      [true, ['system', 'user'], true],
    );
  }
  expect('no error here', errors, []);
}

/** We play the environment of a server of Python. */
async function checkServer(python: string, name: (typeof packages)[number]): Promise<void> {
  const port = await freePort();
  let server = await startServer(python, name, port);
  const proxy = await cuttingProxy(port);
  process.env.ORS_INTEROP_SECRET = 'a-secret-of-the-user';
  const options = { secrets: ['key=ORS_INTEROP_SECRET'], maxToolCharacters: 300_000, connectTimeout: 20_000 };
  await using env = await openEnv(`ors:${proxy.url}#Echo`, options);
  const expect = expecting(`${name}'s server`);
  const call = (tool: string, args = {}) => [{ name: tool, arguments: args }];
  const play = async (index: number, turns: readonly (string | ReturnType<typeof call>)[]) => {
    const { steps, outcome } = await playTask(env, await env.tasks.train.get(index), turns, { retries: 0 });
    const cause = outcome.kind === 'aborted' ? (outcome.cause as ToolEnvError) : undefined;
    return {
      texts: steps.flatMap(({ calls }) => calls.map(({ text }) => text)),
      rewards: steps.map(({ rewards }) => rewards?.reward),
      end: cause?.code ?? ('reason' in outcome ? outcome.reason : ''),
      why: cause?.message ?? '',
      steps,
    };
  };
  try {
    const { train, validation, test } = env.tasks;
    expect(
      'splits by their types',
      [await train.length, await validation.length, await test.length],
      [100, 100, 3],
    );
    const specs = [];
    for (const index of [99, 0, 1, 2, 50]) specs.push((await train.get(index)) as { spec: { id: number } });
    expect(
      'tasks, alone and in ranges',
      specs.map(({ spec }) => spec.id),
      [99, 0, 1, 2, 50],
    );
    const answered = await play(1, ['1']);
    expect('an answer goes to submit', [answered.rewards, answered.end], [[1], 'finished']);
    expect('the prompt', answered.steps[0]!.observation.messages, [{ role: 'user', content: 'Say 1.' }]);
    const several = await play(2, [
      call('image'),
      call('nan'),
      call('secret'),
      call('submit', { text: '1' }),
    ]);
    expect(
      'images, NaN, secrets and a wrong answer',
      [several.texts, several.rewards],
      [
        ['[image]', 'x', `key:${process.env.ORS_INTEROP_SECRET.length}`, 'Thank you.'],
        [0.5, null, null, 0],
      ],
    );
    const twice = await play(1, [[...call('submit', { text: '1' }), ...call('submit', { text: '1' })]]);
    expect('a call after the end is not paid', twice.rewards, [1]);
    const big = await play(1, [call('big', { n: 30_000 }), '1']);
    expect('200 KB of text', big.texts[0] === words(30_000), true);
    // After the headers and the first events.
    proxy.cutAfter(40_000);
    const cut = await play(1, [call('big', { n: 30_000 }), '1']);
    expect(
      'a stream cut in its middle goes on',
      [cut.texts[0] === words(30_000), cut.end, proxy.cuts],
      [true, 'finished', 1],
    );
    const failed = await play(1, [call('boom')]);
    expect(
      'a tool that fails aborts',
      [failed.end, failed.why.includes('boom')],
      ['infrastructure.ors_error', true],
    );
    const unset = await play(3, ['3']);
    expect(
      'a set-up that fails aborts',
      [unset.end, unset.why.includes('no disk')],
      ['infrastructure.ors_error', true],
    );
    const many = await Promise.all(Array.from({ length: 64 }, () => play(5, [call('big', { n: 10 }), '5'])));
    expect(
      '64 episodes at once',
      many.map(({ rewards }) => rewards[1]),
      Array(64).fill(1),
    );
    expect('a session that is gone aborts', await restarted(), 'infrastructure.ors_session');
    // Not by the proxy, whose sockets are in this process too.
    const report = await checkEnv(`ors:http://127.0.0.1:${port}#echo`, {
      actions: 100,
      options: { testSplit: 'flawless', trainSplit: 'flawless' },
    });
    expect(
      `${report.passed.length} rules of environments hold`,
      [report.findings, report.passed.length > 20],
      [[], true],
    );
  } finally {
    server.kill();
    proxy.close();
  }

  /** Restarts the server in the middle of an episode: its sessions are gone. */
  async function restarted(): Promise<string> {
    const episode = env.episode();
    await episode.reset({ task: await env.tasks.train.get(1), seed: 1 });
    server.kill();
    await once(server, 'exit');
    server = await startServer(python, name, port);
    const toolCalls = [{ id: 'a', name: 'image', arguments: {} }];
    const { outcome } = await episode.step({ text: '', toolCalls, stopReason: 'tool_call' });
    await episode.close();
    return outcome.kind === 'aborted' ? (outcome.cause as ToolEnvError).code : outcome.kind;
  }
}

function expecting(side: string) {
  return (title: string, theirs: unknown, ours: unknown) => {
    const shown = JSON.stringify({ theirs, ours }).slice(0, 2_000);
    check(isDeepStrictEqual(theirs, ours), `${side}: ${title}`, shown);
  };
}

async function startServer(python: string, name: string, port: number): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'echo_env.py');
  const env = { ...process.env, OPENREWARD_DISABLE_UPDATE_CHECK: '1' };
  const server = spawn(python, [script, name, String(port)], { stdio: ['ignore', 'ignore', 'ignore'], env });
  await answering(`http://127.0.0.1:${port}/health`, server, () => `run ${script} ${name} ${port}.`);
  return server;
}
