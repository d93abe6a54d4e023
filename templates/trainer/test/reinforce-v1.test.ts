import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertConforms, BanditModel, checkTrainer, openBandit } from '@toolenv/testing';
import { train } from '@toolenv/training';
import { expect, test } from 'vitest';
import reinforce from '../src/reinforce-v1.ts';

test('the gradient is the mean of advantage · ∂log-probability', async () => {
  const model = new BanditModel();
  const out = await mkdtemp(join(tmpdir(), 'reinforce-'));
  const trainer = reinforce({ learningRate: 2, tasksPerStep: 50, maxTokens: 8 });
  const events = train({ env: await openBandit({ best: 1 }), policy: model, trainer, steps: 1, out });
  const [rollout, update] = [(await events.next()).value, (await events.next()).value];
  if (rollout?.type !== 'rollout' || update?.type !== 'update') throw new Error('events are missing');
  // Both arms begin with a chance of ½. ∂log π/∂logit of an arm is ½ after this arm and −½ after the other.
  const mean = rollout.metrics.reward!;
  const gradient = mean * (1 - mean) * 0.5 + (1 - mean) * (0 - mean) * -0.5;
  expect(mean).toBeGreaterThan(0);
  expect(model.logits[1]).toBeCloseTo(2 * gradient, 6);
  expect(model.logits[0]).toBeCloseTo(-2 * gradient, 6);
  expect(update.metrics.grad_norm).toBeCloseTo(Math.SQRT2 * gradient, 6);
});

test('follows the rules of the toolenv spec', async () => {
  // They train a small model: it learns, and resumes with the same weights after it was interrupted or killed.
  await assertConforms(checkTrainer(reinforce));
}, 60_000);
