/** Checks the critic of a learner, if it can have one. Only the critic learns meanwhile; it stays with the learner. */
import type { Learner, Rows, TokenOutputs, TokenRow } from '@toolenv/core/learner';
import { answered } from './in-time.ts';
import { brief, Violation } from './violation.ts';

const rule = 'LRN-11';
/** Room for float32 rounding. */
const tolerance = 1e-3;

/** @param folder To save in. @throws Violation */
export async function checkCritic(
  learner: Learner,
  rows: TokenRow[],
  { folder, timeout }: { folder: string; timeout: number },
): Promise<void> {
  if (!learner.addCritic) return;
  const within = <T>(expected: string, work: () => Promise<T>) => answered(rule, expected, timeout, work);
  const forward = () => within('outputs of forward()', () => learner.forward({ rows }));
  const ofAll = (value: number): Rows =>
    rows.map(({ mask }) => Float32Array.from(mask, (bit) => (bit === 1 ? value : 0)));
  const raiseValues = async () => {
    const gradients = { dLogprobs: ofAll(1), dValues: ofAll(-1) };
    await within('backward() to take dValues', () => learner.backward({ rows }, gradients));
    await within('step() to end', () => learner.step({ learningRate: 1e-2, criticOnly: true }));
  };

  const without = await forward();
  await within('addCritic() to end', async () => learner.addCritic?.({ critic: 'shared' }));
  const fresh = valuesOf(await forward(), rows);
  if (total(fresh) !== 0) throw new Violation(rule, 'values of 0 from a new critic', brief(fresh));
  for (let i = 0; i < 4; i++) await raiseValues();
  const raised = await forward();
  if (!(total(valuesOf(raised, rows)) > 0)) {
    throw new Violation(rule, 'values that rise for dValues of −1', brief(raised.values));
  }
  expectNear(
    'log-probabilities as they were before the critic alone learned',
    without.logprobs,
    raised.logprobs,
  );

  await within('save() to end', () => learner.save(folder));
  await raiseValues();
  await within('load() to end', () => learner.load(folder));
  const loaded = await forward();
  expectNear('the saved values after load()', valuesOf(raised, rows), valuesOf(loaded, rows));
}

/** @throws Violation if they are not of the rows' lengths, finite, and 0 where the mask is. */
function valuesOf({ values }: TokenOutputs, rows: TokenRow[]): Rows {
  const lengths = values?.map((row) => row.length);
  const expected = rows.map(({ tokens }) => tokens.length);
  if (!values || JSON.stringify(lengths) !== JSON.stringify(expected)) {
    throw new Violation(rule, `values of lengths ${expected}`, brief(lengths));
  }
  for (const [b, { mask }] of rows.entries()) {
    for (const [t, value] of values[b]!.entries()) {
      if (mask[t] === 1 ? Number.isFinite(value) : value === 0) continue;
      const what = mask[t] === 1 ? 'finite' : '0 where the mask is 0';
      throw new Violation(rule, `values[${b}][${t}] ${what}`, String(value));
    }
  }
  return values;
}

function total(rows: Rows): number {
  return rows.reduce((sum, row) => row.reduce((rowSum, value) => rowSum + value, sum), 0);
}

function expectNear(what: string, expected: Rows, received: Rows): void {
  for (const [b, row] of expected.entries()) {
    for (const [t, value] of row.entries()) {
      const other = received[b]?.[t] ?? Number.NaN;
      if (Math.abs(value - other) <= tolerance) continue;
      throw new Violation(rule, `${what}: ${value} at [${b}][${t}]`, String(other));
    }
  }
}
