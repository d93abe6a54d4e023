/** The comparison with TRL: served episodes equal those of a rollout, and both sides have the same goal. */
import { collect, type EnvHandle, openEnv, rollout, scriptedPolicy } from '@toolenv/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environment, envOptions } from '../demo/setting.ts';
import { movingMean, type StepReport, stepOfGoal } from '../interop/trl/learning-curve.ts';
import { ServedEpisodes } from '../interop/trl/served-episodes.ts';

let env: EnvHandle<unknown>;
beforeAll(async () => {
  env = await openEnv(environment, envOptions);
});
afterAll(() => env.close());

const search = (query: string) => ({ id: '', name: 'search', arguments: { query } });
const calling = (query: string) => ({
  text: '',
  toolCalls: [search(query)],
  stopReason: 'tool_call' as const,
});
const answering = (text: string) => ({ text, toolCalls: [], stopReason: 'stop' as const });

test('a served episode has the same texts and rewards as a rollout', async () => {
  const task = (await env.tasks.train.get(0)) as { question: string; answer: string };
  const title = task.question.match(/[A-Z]\w+ [A-Z]\w+/)![0];
  const answer = `<answer>${task.answer}</answer>`;
  const policy = scriptedPolicy((_seen, turn) => (turn === 0 ? [search(title)] : answer));
  const sampling = { maxTokens: 64, temperature: 1 };
  const episodes = [{ task, group: 0, sample: 0 }];
  const [played] = await collect(rollout({ env, policy, episodes, concurrency: 1, sampling, seed: 1 }));

  const served = new ServedEpisodes(env, [task], 1);
  expect(await served.openings()).toEqual([played!.steps[0]!.observation.messages]);
  await served.answer({ method: 'reset', episode: 7, task: 0 });
  const found = await served.answer({ method: 'step', episode: 7, turn: 1, action: calling(title) });
  const ended = await served.answer({ method: 'step', episode: 7, turn: 2, action: answering(answer) });
  expect(found.text).toBe(played!.steps[0]!.calls[0]!.text);
  expect(found.rewards).toEqual(played!.steps[0]!.rewards);
  expect(ended.rewards).toEqual(played!.steps[1]!.rewards);
  expect(ended.rewards.em).toBe(1);
});

test('answers a second call in a turn with a mistake, and does not count it as a turn', async () => {
  const served = new ServedEpisodes(env, [env.tasks.train.get(0)], 1);
  await served.answer({ method: 'reset', episode: 0, task: 0 });
  const step = (turn: number) =>
    served.answer({ method: 'step', episode: 0, turn, action: calling('Some Name') });
  for (let turn = 1; turn <= 4; turn++) {
    expect((await step(turn)).text).not.toContain('too_many_calls');
    for (const call of [2, 3]) {
      const { text, rewards } = await step(turn);
      expect(text).toContain('too_many_calls');
      expect(text).toContain(`received call ${call}.`);
      expect(rewards).toEqual({});
    }
  }
  // The fifth turn is the last. Without an answer it scores 0.
  expect((await step(5)).rewards.em).toBe(0);
});

test('the goal is reached at the first step whose last five steps have the mean exact match', () => {
  const steps = [1, 0.7, 0.8, 0.8, 0.6, 0.8, 0.9, 0.9].map(
    (em, index) => ({ step: index + 1, em }) as StepReport,
  );
  expect(stepOfGoal(steps.slice(0, 4), { em: 0.8, window: 5 })).toBeUndefined();
  expect(movingMean(steps, 4, 5)).toBeCloseTo(0.78, 12);
  expect(stepOfGoal(steps, { em: 0.8, window: 5 })?.step).toBe(8);
  expect(stepOfGoal(steps, { em: 0.75, window: 5 })?.step).toBe(5);
});
