/** checkLearner: checks a learner against the LRN rules of the spec. It sees gradients only as the norm that `step` returns. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRng, ToolEnvError } from '@toolenv/core';
import type { Learner, Rows, TokenBatch, TokenOutputs, TokenRow } from '@toolenv/core/learner';
import { answered } from '../in-time.ts';
import { type CheckOptions, type Report, Reporter } from '../report.ts';
import type { RuleId } from '../rules.ts';
import { brief, Violation } from '../violation.ts';
import { checkCritic } from './check-critic.ts';
import { checkNoise } from './check-noise.ts';
import {
  atMask,
  expectForm,
  expectNear,
  normTolerance,
  outputTolerance,
  signTolerance,
  sum,
} from './token-rows.ts';

export interface CheckLearnerOptions extends CheckOptions {
  /** Names the learner in the report. Default `learner`. */
  name?: string;
  /** The check uses token ids below this. Default 16, or fewer if the learner's `vocabularySize` says so. */
  vocabulary?: number;
  /** Default 1. */
  seed?: number;
  /** Milliseconds that an answer may take. Default 120,000. */
  timeout?: number;
}

/** Large enough that one step changes the outputs visibly. */
const learningRate = 1e-2;

/**
 * Trains the learner for some steps, reports the rules that it breaks, and restores its initial weights. A learner that
 * supports a critic has one afterwards.
 */
export async function checkLearner(learner: Learner, options: CheckLearnerOptions = {}): Promise<Report> {
  const { name = 'learner', seed = 1, timeout = 120_000 } = options;
  const { vocabulary = Math.min(16, learner.vocabularySize ?? 16) } = options;
  const report = new Reporter(name, 'LRN', options);
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-learner-'));
  const student = new Student(learner, makeRows(vocabulary, seed), seed, timeout);
  try {
    await report.check(['LRN-8'], () => student.save(join(folder, 'first')), true);
    await report.check(['LRN-1'], () => student.forwardForm());
    if (!report.report.ok) return report.report;
    await report.check(['LRN-2'], () => student.rowsAlone());
    await report.check(['LRN-10'], () => student.temperature());
    await report.check(['LRN-3'], () => student.accumulates(), report.wants('LRN-4'));
    // LRN-4 sums gradients by accumulating them.
    if (report.settled('LRN-3')) report.skip(['LRN-4'], 'LRN-3 is broken or left out');
    else await report.check(['LRN-4'], () => student.isLinear());
    await report.check(['LRN-5'], () => student.ignoresMasked());
    await report.check(['LRN-12'], () => student.seesOutputs());
    await report.check(['LRN-6'], () => student.steps());
    await report.check(['LRN-7'], () => student.refusesInfinity());
    await report.check(['LRN-9'], () => student.keepsReference());
    const middle = join(folder, 'middle');
    await report.check(['LRN-8'], () => student.savesAndLoads(middle), report.wants('LRN-11', 'LRN-13'));
    if (report.settled('LRN-8')) report.skip(['LRN-13'], 'LRN-8 is broken or left out');
    else await report.check(['LRN-13'], () => student.hasNoise(join(folder, 'noisy')));
    await report.check(['LRN-8'], () => student.load(join(folder, 'first')), true);
    // Last, because a critic cannot be removed.
    if (report.settled('LRN-8')) report.skip(['LRN-11'], 'LRN-8 is broken or left out');
    else await report.check(['LRN-11'], () => student.hasCritic(join(folder, 'critic')));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return report.report;
}

/** Rows of unequal lengths, so that a learner that pads must mask the padding. */
function makeRows(vocabulary: number, seed: number): TokenRow[] {
  return [6, 11, 4].map((length, number) => {
    const rng = createRng(seed, 'row', number);
    const tokens = Int32Array.from({ length }, () => rng.int(vocabulary));
    const mask = Uint8Array.from({ length }, (_, t) =>
      t > 0 && (t === length - 1 || rng.float() < 0.5) ? 1 : 0,
    );
    return { tokens, mask };
  });
}

class Student {
  readonly #learner: Learner;
  readonly #rows: TokenRow[];
  readonly #timeout: number;
  readonly #d1: Rows;
  readonly #d2: Rows;

  constructor(learner: Learner, rows: TokenRow[], seed: number, timeout: number) {
    this.#learner = learner;
    this.#rows = rows;
    this.#timeout = timeout;
    const random = (name: string): Rows =>
      rows.map(({ mask }, number) => {
        const rng = createRng(seed, name, number);
        return Float32Array.from(mask, (bit) => (bit === 1 ? 2 * rng.float() - 1 : 0));
      });
    this.#d1 = random('first');
    this.#d2 = random('second');
  }

  async forwardForm(): Promise<void> {
    const { logprobs, entropy } = await this.#forward('LRN-1');
    expectForm('LRN-1', 'logprobs', logprobs, this.#rows, {
      words: 'finite and ≤ 0',
      test: (value) => Number.isFinite(value) && value <= signTolerance,
    });
    if (!entropy) return;
    expectForm('LRN-1', 'entropy', entropy, this.#rows, {
      words: 'finite and ≥ 0',
      test: (value) => Number.isFinite(value) && value >= -signTolerance,
    });
  }

  async rowsAlone(): Promise<void> {
    const together = await this.#forward('LRN-2');
    for (const [b, row] of this.#rows.entries()) {
      const alone = await this.#forward('LRN-2', { rows: [row] });
      for (const name of ['logprobs', 'entropy'] as const) {
        const [whole, part] = [together[name], alone[name]];
        if (whole && part) expectNear('LRN-2', `${name}[${b}] alone as in the batch`, [whole[b]!], part);
      }
    }
  }

  /** A higher temperature flattens every distribution that is not flat already. An absent temperature means 1. */
  async temperature(): Promise<void> {
    const plain = await this.#forward('LRN-10');
    const one = await this.#forward('LRN-10', { rows: this.#rows, temperature: 1 });
    expectNear('LRN-10', 'logprobs at temperature 1 as without a temperature', plain.logprobs, one.logprobs);
    const [hot, cold] = [await this.#forwardAt(2), await this.#forwardAt(0.5)];
    if (!hot || !cold || !plain.entropy) return;
    const sums = [cold, plain, hot].map(({ entropy = [] }) => sum(entropy));
    if (sums[0]! < sums[1]! && sums[1]! < sums[2]!) return;
    const isFlat = Math.abs(sum(plain.logprobs) + sum(plain.entropy)) < outputTolerance;
    if (sums[2]! - sums[0]! < outputTolerance && isFlat) return;
    throw new Violation('LRN-10', 'entropy that rises with the temperatures 0.5, 1 and 2', brief(sums));
  }

  /** `undefined` if the learner refuses the temperature. */
  #forwardAt(temperature: number): Promise<TokenOutputs | undefined> {
    return answered('LRN-10', 'outputs of forward(), or a usage error', this.#timeout, () =>
      this.#learner.forward({ rows: this.#rows, temperature }).catch((error: unknown) => {
        if (!ToolEnvError.isInstance(error) || !error.code.startsWith('usage.')) throw error;
        return undefined;
      }),
    );
  }

  async accumulates(): Promise<void> {
    const whole = await this.#norm('LRN-3', () => this.#backward('LRN-3', this.#d1));
    const inParts = await this.#norm('LRN-3', async () => {
      for (const [b, row] of this.#rows.entries()) {
        await this.#backward('LRN-3', [this.#d1[b]!], { rows: [row] });
      }
    });
    expectNorm('LRN-3', 'the gradient norm of the whole batch after one backward per row', whole, inParts);
    const twice = await this.#norm('LRN-3', async () => {
      await this.#backward('LRN-3', this.#d1);
      await this.#backward('LRN-3', this.#d1);
    });
    expectNorm('LRN-3', 'twice the gradient norm after two equal backward passes', 2 * whole, twice);
  }

  async isLinear(): Promise<void> {
    const one = await this.#norm('LRN-4', () => this.#backward('LRN-4', this.#d1));
    if (!(one > 0)) throw new Violation('LRN-4', 'a gradient norm above 0', String(one));
    const scaled = await this.#norm('LRN-4', () => this.#backward('LRN-4', scale(this.#d1, -3)));
    expectNorm('LRN-4', 'three times the norm for dLogprobs times −3', 3 * one, scaled);
    const apart = await this.#norm('LRN-4', async () => {
      await this.#backward('LRN-4', this.#d1);
      await this.#backward('LRN-4', this.#d2);
    });
    const added = add(this.#d1, this.#d2);
    const joined = await this.#norm('LRN-4', () => this.#backward('LRN-4', added));
    expectNorm('LRN-4', 'the norm of two backward passes for the sum of their dLogprobs', apart, joined);

    if (!(await this.#forward('LRN-4')).entropy) return;
    const zeros = scale(this.#d1, 0);
    const entropy = await this.#norm('LRN-4', () => this.#backward('LRN-4', zeros, { dEntropy: this.#d2 }));
    const twice = { dEntropy: scale(this.#d2, 2) };
    const doubled = await this.#norm('LRN-4', () => this.#backward('LRN-4', zeros, twice));
    expectNorm('LRN-4', 'twice the norm for twice dEntropy', 2 * entropy, doubled);
  }

  async ignoresMasked(): Promise<void> {
    const clean = await this.#norm('LRN-5', () => this.#backward('LRN-5', this.#d1));
    for (const junk of [1000, Number.NaN]) {
      const dirty = add(this.#d1, atMask(this.#rows, 0, junk));
      const norm = await this.#norm('LRN-5', () => this.#backward('LRN-5', dirty));
      expectNorm('LRN-5', `the same norm with ${junk} where the mask is 0`, clean, norm);
    }
  }

  async seesOutputs(): Promise<void> {
    const { logprobs, entropy } = await this.#forward('LRN-12');
    const seen = await this.#backward('LRN-12', this.#d1);
    await this.#norm('LRN-12', async () => {});
    if (!seen) return;
    expectNear('LRN-12', 'logprobs of backward() as of forward()', logprobs, seen.logprobs);
    if (entropy && seen.entropy)
      expectNear('LRN-12', 'entropy of backward() as of forward()', entropy, seen.entropy);
  }

  async steps(): Promise<void> {
    const before = await this.#forward('LRN-6');
    const norm = await this.#norm('LRN-6', () => this.#backward('LRN-6', this.#d1));
    const left = await this.#norm('LRN-6', async () => {});
    if (!(Math.abs(left) < 1e-6 * Math.max(1, norm))) {
      throw new Violation('LRN-6', 'gradients cleared by step()', `a norm of ${left} in the next step`);
    }
    const still = await this.#forward('LRN-6');
    expectNear('LRN-6', 'no change at learning rate 0', before.logprobs, still.logprobs);
    await this.#train('LRN-6');
    const after = await this.#forward('LRN-6');
    const [low, high] = [sum(before.logprobs), sum(after.logprobs)];
    if (high > low) return;
    throw new Violation('LRN-6', `logprobs that rise from ${low} for dLogprobs of −1`, String(high));
  }

  async refusesInfinity(): Promise<void> {
    const before = await this.#forward('LRN-7');
    await this.#backward('LRN-7', atMask(this.#rows, Number.POSITIVE_INFINITY));
    const refused = await answered('LRN-7', 'an answer of step()', this.#timeout, () =>
      this.#learner.step({ learningRate }).then(brief, () => undefined),
    );
    if (refused !== undefined) throw new Violation('LRN-7', 'step() to throw', refused);
    const after = await this.#forward('LRN-7');
    expectNear('LRN-7', 'unchanged weights', before.logprobs, after.logprobs);
    await this.#norm('LRN-7', async () => {});
  }

  async keepsReference(): Promise<void> {
    const reference = await answered('LRN-9', 'a reference', this.#timeout, () => this.#learner.reference());
    const read = () =>
      answered('LRN-9', 'outputs of the reference', this.#timeout, () =>
        reference.forward({ rows: this.#rows }),
      );
    const own = await this.#forward('LRN-9');
    const before = await read();
    expectNear('LRN-9', "the learner's outputs from a new reference", own.logprobs, before.logprobs);
    await this.#train('LRN-9');
    const after = await read();
    expectNear('LRN-9', 'a reference that a step does not change', before.logprobs, after.logprobs);
  }

  /** Compares the outputs after load(), then after one more step: that step shows whether load() restored the optimizer state. */
  async savesAndLoads(folder: string): Promise<void> {
    for (let i = 0; i < 3; i++) await this.#train('LRN-8');
    await this.save(folder);
    const saved = await this.#forward('LRN-8');
    await this.#train('LRN-8', this.#d2);
    const continued = await this.#forward('LRN-8');
    await this.#train('LRN-8');
    await this.load(folder);
    const loaded = await this.#forward('LRN-8');
    expectNear('LRN-8', 'the saved outputs after load()', saved.logprobs, loaded.logprobs);
    await this.#train('LRN-8', this.#d2);
    const again = await this.#forward('LRN-8');
    expectNear('LRN-8', 'the same next step after load()', continued.logprobs, again.logprobs);
  }

  hasCritic(folder: string): Promise<void> {
    return checkCritic(this.#learner, this.#rows, { folder, timeout: this.#timeout });
  }

  hasNoise(folder: string): Promise<void> {
    return checkNoise(this.#learner, this.#rows, { folder, timeout: this.#timeout });
  }

  save(folder: string): Promise<void> {
    return answered('LRN-8', 'save() to end', this.#timeout, () => this.#learner.save(folder));
  }

  load(folder: string): Promise<void> {
    return answered('LRN-8', 'load() to end', this.#timeout, () => this.#learner.load(folder));
  }

  #forward(rule: RuleId, batch: TokenBatch = { rows: this.#rows }): Promise<TokenOutputs> {
    return answered(rule, 'outputs of forward()', this.#timeout, () => this.#learner.forward(batch));
  }

  #backward(
    rule: RuleId,
    dLogprobs: Rows,
    { rows = this.#rows, dEntropy }: { rows?: TokenRow[]; dEntropy?: Rows } = {},
  ) {
    const gradients = dEntropy ? { dLogprobs, dEntropy } : { dLogprobs };
    return answered(rule, 'backward() to end', this.#timeout, () =>
      this.#learner.backward({ rows }, gradients),
    );
  }

  /** The norm of the gradients that `accumulate` makes. Clears them and changes no weight. */
  async #norm(rule: RuleId, accumulate: () => Promise<unknown>): Promise<number> {
    await accumulate();
    const step = () => this.#learner.step({ learningRate: 0 });
    const { gradNorm } = await answered(rule, 'a gradient norm', this.#timeout, step);
    return gradNorm;
  }

  /** One step on `dLogprobs`. By default it raises the log-probabilities where the mask is 1. */
  async #train(rule: RuleId, dLogprobs: Rows = atMask(this.#rows, -1)): Promise<void> {
    await this.#backward(rule, dLogprobs);
    await answered(rule, 'step() to end', this.#timeout, () => this.#learner.step({ learningRate }));
  }
}

function expectNorm(rule: RuleId, what: string, expected: number, received: number): void {
  if (Math.abs(expected - received) <= normTolerance * Math.max(1e-6, Math.abs(expected))) return;
  throw new Violation(rule, `${what}: ${expected}`, String(received));
}

function scale(rows: Rows, by: number): Rows {
  return rows.map((row) => row.map((value) => value * by));
}

function add(a: Rows, b: Rows): Rows {
  return a.map((row, i) => row.map((value, t) => value + b[i]![t]!));
}
