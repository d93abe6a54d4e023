import type { EnvHandle } from '@toolenv/core';
import type { Learner, TokenBatch } from '@toolenv/core/learner';
import type { Run, Trainer } from '@toolenv/core/plugins';
import { grpo } from '@toolenv/trainer-grpo';
import { ppo } from '@toolenv/trainer-ppo';
import { expect, test } from 'vitest';
import { BanditModel, compareTrainers, openBandit, type TrainerShare } from '../../src/index.ts';

const any = (trainer: unknown) => trainer as Trainer;

async function compare(other: Trainer, failing: number[] = []): Promise<TrainerShare[]> {
  const env = (await openBandit({ best: 1, failing })) as EnvHandle<unknown>;
  return compareTrainers({
    env,
    openPolicy: async () => new BanditModel(),
    trainers: new Map([
      ['grpo', any(grpo)],
      ['other', other],
    ]),
    options: { tasksPerStep: 8, groupSize: 4, maxTokens: 4, learningRate: 0.5 },
    seed: 1,
  });
}

/** GRPO with a change of what it is given, or of what it learns. */
function changed(change: (run: Run) => Partial<Run>, options: Record<string, unknown> = {}): Trainer {
  return {
    ...any(grpo),
    train: (run, given) => any(grpo).train({ ...run, ...change(run) }, { ...given, ...options }),
  };
}

/** A learner that is given other rows than the trainer makes, each place with a gradient. */
function given(learner: Learner, rows: (batch: TokenBatch) => TokenBatch): Partial<Run> {
  return {
    learner: {
      forward: (batch) => learner.forward(batch),
      backward(batch) {
        const changed = rows(batch);
        const dLogprobs = changed.rows.map(({ tokens }) => new Float32Array(tokens.length).fill(1));
        return learner.backward(changed, { dLogprobs });
      },
      step: (optimizer) => learner.step(optimizer),
      reference: () => learner.reference(),
      save: (folder) => learner.save(folder),
      load: (folder) => learner.load(folder),
    },
  };
}

test('GRPO and PPO see the same episodes, and their own reasons to leave some out', async () => {
  const [one, other] = await compare(any(ppo));
  expect(one).toMatchObject({ trainer: 'grpo', episodes: 32, sampledTokens: 32, differences: [] });
  expect(other).toMatchObject({ trainer: 'other', episodes: 32, sampledTokens: 32, differences: [] });
  expect(other!.reward).toBe(one!.reward);
  expect(one!.learnedTokens).toBe(one!.learnedEpisodes);
  const left = 32 - one!.learnedEpisodes;
  expect(one!.notes).toEqual(
    left === 0 ? [] : [`left out, with the reward of all others of their task: ${left} episodes.`],
  );
});

test('aborted episodes are told apart', async () => {
  const [one] = await compare(any(grpo), [3]);
  expect(one!.notes[0]).toBe('aborted: 4 episodes.');
  expect(one!.sampledTokens).toBe(28);
});

test.each<[string, Trainer, RegExp]>([
  [
    'another seed',
    changed(({ seed }) => ({ seed: seed + 1 })),
    /plays another task in|samples other tokens in turn 1/,
  ],
  ['a smaller group', changed(() => ({}), { groupSize: 2 }), /plays 16 fewer episodes/],
  [
    'other rewards',
    changed(({ env }) => ({
      env: { ...env!, episode: () => doubled(env!.episode()) } as EnvHandle<unknown>,
    })),
    /has the reward \d and not \d in episode/,
  ],
  [
    'tokens of the prompt',
    changed(({ learner }) =>
      given(learner, (batch) => ({
        ...batch,
        rows: batch.rows.map(({ tokens, mask }) => ({ tokens, mask: mask.map(() => 1) })),
      })),
    ),
    /which the policy has not written/,
  ],
  [
    'tokens that were made again from text',
    changed(({ learner }) =>
      given(learner, (batch) => ({
        ...batch,
        rows: batch.rows.map(({ tokens, mask }) => ({ mask, tokens: tokens.map((token) => token ^ 1) })),
      })),
    ),
    /tokens that are no episode's/,
  ],
])('a trainer with %s differs', async (_what, trainer, difference) => {
  const [one, other] = await compare(trainer);
  expect(one!.differences).toEqual([]);
  expect(other!.differences.join('\n')).toMatch(difference);
});

function doubled(env: ReturnType<EnvHandle<unknown>['episode']>): typeof env {
  return {
    ...env,
    spec: env.spec,
    reset: (options) => env.reset(options),
    close: () => env.close(),
    async step(action, options) {
      const transition = await env.step(action, options);
      if (transition.rewards) transition.rewards.win = 1 - (transition.rewards.win ?? 0);
      return transition;
    },
  };
}
