/** Checks a learner's critic. Only the critic's weights change; the critic stays with the learner. */
import type { Learner, Rows, TokenOutputs, TokenRow } from '@toolenv/core/learner';
import { answered } from '../in-time.ts';
import { brief, Violation } from '../violation.ts';
import { atMask, expectForm, expectNear, sum } from './token-rows.ts';

const rule = 'LRN-11';

/** @param folder To save in. @throws Violation */
export async function checkCritic(
  learner: Learner,
  rows: TokenRow[],
  { folder, timeout }: { folder: string; timeout: number },
): Promise<void> {
  if (!learner.addCritic) return;
  const within = <T>(expected: string, work: () => Promise<T>) => answered(rule, expected, timeout, work);
  const forward = () => within('outputs of forward()', () => learner.forward({ rows }));
  const raiseValues = async () => {
    const gradients = { dLogprobs: atMask(rows, 1), dValues: atMask(rows, -1) };
    await within('backward() to take dValues', () => learner.backward({ rows }, gradients));
    await within('step() to end', () => learner.step({ learningRate: 1e-2, criticOnly: true }));
  };

  const without = await forward();
  await within('addCritic() to end', async () => learner.addCritic?.({ critic: 'shared' }));
  const fresh = valuesOf(await forward(), rows);
  if (sum(fresh) !== 0) throw new Violation(rule, 'values of 0 from a new critic', brief(fresh));
  for (let i = 0; i < 4; i++) await raiseValues();
  const raised = await forward();
  if (!(sum(valuesOf(raised, rows)) > 0)) {
    throw new Violation(rule, 'values that rise for dValues of −1', brief(raised.values));
  }
  const what = 'log-probabilities that a step with criticOnly does not change';
  expectNear(rule, what, without.logprobs, raised.logprobs);

  await within('save() to end', () => learner.save(folder));
  await raiseValues();
  await within('load() to end', () => learner.load(folder));
  const loaded = await forward();
  expectNear(rule, 'the saved values after load()', valuesOf(raised, rows), valuesOf(loaded, rows));
}

function valuesOf({ values }: TokenOutputs, rows: TokenRow[]): Rows {
  return expectForm(rule, 'values', values, rows, { words: 'finite', test: Number.isFinite });
}
