/** An environment of verifiers, with a stand-in for Python that speaks the same lines. With verifiers itself: `npm run interop -- verifiers`. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import {
  collect,
  messageOf,
  type OpenedEnv,
  openEnv,
  rollout,
  scriptedPolicy,
  type Trajectory,
} from '@toolenv/core';
import { checkEnv } from '@toolenv/testing';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { VerifiersTask } from '../src/index.ts';

const python = join(import.meta.dirname, 'python.js');

beforeEach(() => {
  vi.stubEnv('TOOLENV_PYTHON', python);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
});

async function opened(
  taskset: string,
  options: Record<string, unknown> = {},
): Promise<OpenedEnv<VerifiersTask>> {
  const env = (await openEnv(`verifiers:${taskset}`, options)) as OpenedEnv<VerifiersTask>;
  onTestFinished(() => env.close());
  return env;
}

const refusal = (taskset: string, options: Record<string, unknown> = {}) =>
  openEnv(`verifiers:${taskset}`, options).then(
    () => 'opened',
    (error) => `${error.code} ${messageOf(error)}`,
  );

/** Answers with the digit in the question, or with `said`. */
async function play(env: OpenedEnv<VerifiersTask>, count: number, said?: string): Promise<Trajectory[]> {
  const policy = scriptedPolicy(({ messages }) => said ?? /\d/.exec(messages[0]!.content)![0]);
  const episodes = await Promise.all(
    Array.from({ length: count }, async (_, group) => ({
      task: await env.tasks.train.get(group),
      group,
      sample: 0,
    })),
  );
  const sampling = { maxTokens: 8, temperature: 0 };
  return collect(rollout({ env, policy, episodes, concurrency: count, sampling, seed: 1, retries: 0 }));
}

/** Why an episode was aborted. */
const whyOf = ({ outcome }: Trajectory) =>
  outcome.kind === 'aborted' ? outcome.cause.message : outcome.kind;

/** Processes of the stand-in that were started with a taskset. */
function processesOf(taskset: string): string[] {
  const lines = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8', maxBuffer: 2 ** 28 }).split('\n');
  return lines.filter((line) => line.includes('python.js') && line.includes(`"id":"${taskset}"`));
}

test('verifiers plays and scores, and its rewards and metrics are in the info', async () => {
  const env = await opened('sound', { maxTurns: 7 });
  const right = await play(env, 4);
  expect(right.map(({ reward }) => reward)).toEqual([2, 2, 2, 2]);
  expect(right[0]!.rewards).toEqual({ reward: 2 });
  expect(right[0]!.steps.at(-1)!.info).toMatchObject({ verifiers: { exact: 1, length: 3, maxTurns: 7 } });
  const wrong = await play(env, 4, 'no idea');
  expect(wrong.map(({ reward }) => reward)).toEqual([0, 0, 0, 0]);
  expect(processesOf('sound')).toHaveLength(1);
  await env.close();
  expect(processesOf('sound')).toEqual([]);
});

test('each fifth task is a test task, unless test tasks have a config of their own', async () => {
  const whole = await opened('sound', { tasks: 8 });
  expect([await whole.tasks.train.length, await whole.tasks.test.length]).toEqual([7, 1]);
  expect(await whole.tasks.test.get(0)).toMatchObject({ set: 'all', data: { idx: 4 } });
  const apart = await opened('sound', { testConfig: '{"taskset": {"split": "test"}}' });
  expect([await apart.tasks.train.length, await apart.tasks.test.length]).toEqual([10, 10]);
  expect(await apart.tasks.test.get(0)).toMatchObject({ set: 'test', data: { idx: 0 } });
});

test('what cannot be played is refused by name, and leaves no process', async () => {
  expect(await refusal('unknown')).toBe(
    "usage.verifiers verifiers cannot load the environment: ModuleNotFoundError: taskset 'unknown' not found",
  );
  expect(await refusal('two-roles')).toMatch(
    /^usage.verifiers The policy would play 2 roles of two-roles \(white, black\)/,
  );
  expect(await refusal('no-role')).toMatch(/^usage.verifiers Every role of no-role has a client of its own/);
  expect(await refusal('sound', { config: '{"taskset": ' })).toMatch(
    /^usage.verifiers The option config is not a JSON object/,
  );
  expect(await refusal('never-loads', { startTimeout: 500 })).toBe(
    'infrastructure.verifiers The Python of verifiers loaded nothing within 0.5 s: raise startTimeout',
  );
  for (const taskset of ['unknown', 'two-roles', 'never-loads']) expect(processesOf(taskset)).toEqual([]);
  vi.stubEnv('TOOLENV_PYTHON', '/nowhere/python');
  vi.stubEnv('PATH', '/nowhere');
  expect(await refusal('sound')).toMatch(
    /^usage.verifiers No Python has verifiers .* run `pip install "verifiers>=0.4"`/,
  );
});

test('an episode that verifiers does not score is aborted with its words', async () => {
  const [episode] = await play(await opened('fails'), 1);
  expect(episode).toMatchObject({
    reward: null,
    outcome: { kind: 'aborted', cause: { code: 'infrastructure.verifiers' } },
  });
  expect(whyOf(episode!)).toBe('verifiers did not score the episode: TaskError: no disk');
});

test('it keeps the rules of environments', async () => {
  const report = await checkEnv('verifiers:sound', { actions: 30 });
  expect(report.findings).toEqual([]);
  expect(report.passed.length).toBeGreaterThan(20);
});

test('a shell on this machine is warned of', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  await opened('sound');
  expect(warn).not.toHaveBeenCalled();
  await opened('has a shell');
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('runs what its model writes'), 'ModelCode');
  warn.mockRestore();
});

test('a metric without a value leaves the reward as it is', async () => {
  const [episode] = await play(await opened('unscored-part'), 1);
  expect(episode).toMatchObject({ reward: 2, outcome: { kind: 'terminated' } });
});

test('after the end of the process, the next episode starts another', async () => {
  const env = await opened('dies');
  const first = await play(env, 2);
  for (const episode of first) expect(whyOf(episode)).toContain('ended with SIGKILL: Segmentation fault');
  expect(processesOf('dies')).toEqual([]);
  const second = await play(env, 1);
  expect(second[0]!.outcome.kind).toBe('aborted');
});

test('a line that is no answer ends its episodes', async () => {
  const env = await opened('talks');
  const [episode] = await play(env, 1);
  expect(whyOf(episode!)).toContain('answered with no JSON: Downloading words');
  await vi.waitFor(() => expect(processesOf('talks')).toEqual([]));
});

test('an agent that stalls is truncated, and cancelled in verifiers', async () => {
  const env = await opened('stalls', { toolTimeout: 300 });
  const [episode] = await play(env, 1);
  expect(episode!.outcome).toMatchObject({ kind: 'truncated', reason: 'deadline' });
  // It plays on.
  const [next] = await play(env, 1);
  expect(next!.outcome).toMatchObject({ kind: 'truncated' });
});
