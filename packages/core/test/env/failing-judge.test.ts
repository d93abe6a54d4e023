/** An environment whose judge fails: its episodes are aborted with the cause, and bugs still throw. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  collect,
  defineEnv,
  defineToolEnv,
  type EpisodeContext,
  openEnv,
  playTask,
  rollout,
  scriptedPolicy,
  ToolEnvError,
} from '../../src/index.ts';

let server: Server;
let address: string;
/** Answers of the judge, in order; then only good ones. */
let answers: { status: number; body: string }[];

beforeEach(async () => {
  answers = [];
  server = createServer((_, response) => {
    const { status, body } = answers.shift() ?? { status: 200, body: '{"verdict":1}' };
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => void server.close());

type Score = (context: Pick<EpisodeContext, 'signal'>) => Promise<number>;

function judged(score: Score) {
  return defineToolEnv({
    name: 'judged-v1',
    description: 'Say something.',
    tasks: { train: [{}] },
    rewards: { good: { kind: 'outcome', score } },
    episode: () => ({ messages: 'Speak.' }),
  });
}

const ask: Score = async ({ signal }) => {
  const response = await fetch(address, { signal });
  if (!response.ok) throw new Error(`The judge answered ${response.status}.`);
  return ((await response.json()) as { verdict: number }).verdict;
};

const once = { retries: 0 };

test('a judge that refuses aborts its episode, with a hint; the episode is played once more', async () => {
  answers = [{ status: 503, body: 'busy' }];
  const { outcome, reward } = await playTask(judged(ask), {}, ['Hello'], once);
  expect(outcome).toMatchObject({ kind: 'aborted', cause: { code: 'infrastructure.score_failed' } });
  expect(outcome).toHaveProperty(
    'cause.message',
    'The score of "good" failed: The judge answered 503. Try again in its function, or throw new ToolEnvError("infrastructure.judge", why) to name the cause.',
  );
  expect(reward).toBeNull();
  answers = [{ status: 503, body: 'busy' }];
  expect((await playTask(judged(ask), {}, ['Hello'])).reward).toBe(1);
});

test('a judge that cannot be reached, and a reply that is not JSON, abort too', async () => {
  answers = [{ status: 200, body: '<html>busy</html>' }];
  const garbled = await playTask(judged(ask), {}, ['Hello'], once);
  expect(garbled.outcome).toMatchObject({ cause: { message: expect.stringContaining('is not valid JSON') } });
  await new Promise((resolve) => server.close(resolve));
  const gone = await playTask(judged(ask), {}, ['Hello'], once);
  expect(gone.outcome).toMatchObject({
    kind: 'aborted',
    cause: { message: expect.stringMatching(/^The score of "good" failed: fetch failed.*ECONNREFUSED/) },
  });
});

test("a judge's own fault keeps its code", async () => {
  const own: Score = async () => {
    throw new ToolEnvError('infrastructure.judge', 'The judge is asleep.');
  };
  const { outcome } = await playTask(judged(own), {}, ['Hello'], once);
  expect(outcome).toMatchObject({ cause: { code: 'infrastructure.judge', message: 'The judge is asleep.' } });
});

test('a mistake in the function is a bug, and throws', async () => {
  const missing: Score = async () => ({}) as never as Promise<number>;
  const mistaken: Score = async () => (undefined as unknown as { length: number }).length;
  await expect(playTask(judged(mistaken), {}, ['Hello'])).rejects.toThrow(TypeError);
  await expect(playTask(judged(missing), {}, ['Hello'])).rejects.toMatchObject({ code: 'bug.environment' });
  const immediate = judged(() => {
    throw new Error('at once');
  });
  await expect(playTask(immediate, {}, ['Hello'])).rejects.toThrow('at once');
});

test('a hook, the beginning of an episode and a policy whose server is gone abort the episode too', async () => {
  await new Promise((resolve) => server.close(resolve));
  const asking = (where: 'episode' | 'onAnswer') =>
    defineToolEnv({
      name: 'asking-v1',
      description: 'Say something.',
      tasks: { train: [{}] },
      rewards: { good: { kind: 'outcome' } },
      async episode() {
        if (where === 'episode') await fetch(address);
        return {
          messages: 'Speak.',
          async onAnswer() {
            await fetch(address);
            return { end: 'answered' };
          },
        };
      },
    });
  const unreachable = { kind: 'aborted', cause: { code: 'infrastructure.unreachable' } };
  for (const where of ['episode', 'onAnswer'] as const) {
    const { outcome } = await playTask(asking(where), {}, ['Hello'], once);
    expect(outcome).toMatchObject(unreachable);
  }
  const remote = scriptedPolicy(async () => (await fetch(address)).text());
  expect((await playTask(judged(ask), {}, remote, once)).outcome).toMatchObject(unreachable);
});

test('a definition is opened and closed by playTask, and refused by rollout with the line to write', async () => {
  const definition = judged(async () => 1);
  let closed = 0;
  const counted = defineEnv({
    ...definition,
    open: async (options) => {
      const env = await definition.open(options as never);
      const close = async () => {
        closed += 1;
      };
      return { ...env, close };
    },
  });
  expect((await playTask(counted, {}, ['Hello'])).reward).toBe(1);
  expect(closed).toBe(1);
  const withRole = { ...definition, roles: { search: 'nowhere/search-v1' } };
  await expect(playTask(withRole, {}, ['Hello'])).rejects.toThrow(
    /takes tools of plugins: give await openEnv/,
  );
  const policy = scriptedPolicy(['Hello']);
  const run = { policy, episodes: [], concurrency: 1, sampling: { maxTokens: 1, temperature: 0 }, seed: 1 };
  expect(() => rollout({ ...run, env: definition as never })).toThrow(
    /env is not open: give await openEnv\(definition\)/,
  );
  await using open = await openEnv(definition);
  expect(await collect(rollout({ ...run, env: open }))).toEqual([]);
});
