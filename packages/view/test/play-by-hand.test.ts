/** Episodes in which a person and a policy take turns. */
import { type Action, defineTool, defineToolEnv, type EnvDefinition, openEnv } from '@toolenv/core';
import bridge from '@toolenv/envs-qa/bridge-v1';
import { playByHand, solutionOf } from '@toolenv/view';
import { expect, test, vi } from 'vitest';
import safe from '../../../templates/env/src/safe-v1.ts';
import { PlaySession } from '../src/play/play-session.ts';

test("a policy's action is played as it is, between turns that a person wrote", async () => {
  await using env = await openEnv(safe, {}, { seed: 1 });
  const task = await env.tasks.train.get(0);
  const tokens = { prompt: Int32Array.of(1), action: Int32Array.of(2, 3), logprobs: Float32Array.of(-1, -2) };
  const toolCalls = [{ id: 'own', name: 'try_code', arguments: { code: task.code === 500 ? 501 : 500 } }];
  const action: Action = { text: 'Half.', toolCalls, stopReason: 'tool_call', tokens };
  const turns = [action, { text: '', calls: [{ name: 'try_code', arguments: { code: task.code } }] }];
  const { steps, rewards } = await playByHand({
    env,
    task,
    number: 3,
    seed: 1,
    player: { write: async () => turns.shift() ?? { text: String(task.code), calls: [] } },
    signal: new AbortController().signal,
  });
  expect(steps.map(({ action }) => action)).toMatchObject([
    action,
    { toolCalls: [{ id: 'call-3-0', name: 'try_code' }], stopReason: 'tool_call' },
    { text: String(task.code), toolCalls: [], stopReason: 'stop' },
  ]);
  expect(rewards.opened).toBe(1);
});

test.each([
  [
    'a list of turns',
    safe,
    /^\[\{"text":"","calls":\[\{"name":"try_code","arguments":\{"code":(\d+)\}\}\]\},\{"text":"\1","calls":\[\]\}\]$/,
  ],
  ['a function', bridge, /"name":"search".*"text":"<answer>[^<]+<\/answer>","calls":\[\]\}\]$/],
])('the solution of a task is what the oracle does: %s', async (_, definition, solution) => {
  await using env = await openEnv(definition as EnvDefinition, {}, { seed: 1 });
  const trajectory = await playByHand({
    env,
    task: env.tasks.train.get(0),
    number: 1,
    seed: 1,
    player: { write: async () => ({ text: '?', calls: [] }) },
    signal: new AbortController().signal,
  });
  const oracle = definition.oracle as EnvDefinition['oracle'];
  expect(JSON.stringify(await solutionOf(oracle, trajectory))).toMatch(solution);
  expect(await solutionOf(undefined, trajectory)).toEqual([]);
});

test('the page is told how far a running tool is, until the tool has answered', async () => {
  let finish = () => {};
  const read = defineTool('read', 'Reads.', {}, async (_, { progress }) => {
    progress?.({ progress: 1, total: 3, message: 'page 1' });
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return 'Read.';
  });
  const definition = defineToolEnv({
    name: 'pages-v1',
    description: 'Read.',
    tasks: { train: ['Read.'] },
    rewards: { read: { kind: 'outcome' } },
    limits: { maxTurns: 3 },
    episode: ({ task }) => ({ messages: task, tools: [read] }),
  });
  await using env = await openEnv(definition);
  const end = new AbortController();
  const keep = async () => {};
  const session = new PlaySession({
    env,
    task: () => env.tasks.train.get(0),
    seed: 1,
    keep,
    signal: end.signal,
  });
  await vi.waitFor(() => expect(session.state.observation).toBeDefined());
  session.write({ text: '', calls: [{ name: 'read', arguments: {} }] });
  await vi.waitFor(() => expect(session.state.progress).toBe('read: 1 of 3, page 1'));
  finish();
  await vi.waitFor(() => expect(session.state.steps).toHaveLength(1));
  expect(session.state.progress).toBeUndefined();
  end.abort(new Error('over'));
});
