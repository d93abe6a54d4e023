/** checkLearner: holds a learner to the LRN rules of the spec. Gradients are seen through the norm that `step` returns. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import type { Learner, Rows, TokenBatch, TokenOutputs, TokenRow } from '@toolenv/core/learner';
import { checkCritic } from './check-critic.ts';
import { answered } from './in-time.ts';
import { type CheckOptions, type Report, Reporter } from './report.ts';
import type { RuleId } from './rules.ts';
import { brief, Violation } from './violation.ts';

export interface CheckLearnerOptions extends CheckOptions {
  /** Names the learner in the report. Default `learner`. */
  name?: string;
  /** Token ids below this are used. Default 16. */
  vocabulary?: number;
  /** Default 1. */
  seed?: number;
  /** Milliseconds that an answer may take. Default 120,000. */
  timeout?: number;
}

/** Room for float32 rounding: of outputs, in nats, and of gradient norms, relative. */
const outputTolerance = 1e-3;
const normTolerance = 1e-2;
/** Learning rate of the steps that must show. */
const learningRate = 1e-2;

/**
 * Trains the learner for some steps, reports the rules that it breaks, and loads the weights it began with. If it can have a
 * critic, it has one afterwards.
 */
export async function checkLearner(learner: Learner, options: CheckLearnerOptions = {}): Promise<Report> {
  const { name = 'learner', vocabulary = 16, seed = 1, timeout = 120_000 } = options;
  const report = new Reporter(name, 'LRN', options);
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-learner-'));
  const student = new Student(learner, makeRows(vocabulary, seed), seed, timeout);
  try {
    await report.check(['LRN-8'], () => student.save(join(folder, 'first')));
    await report.check(['LRN-1'], () => student.forwardForm());
    if (!report.report.ok) return report.report;
    await report.check(['LRN-2'], () => student.rowsAlone());
    await report.check(['LRN-10'], () => student.temperature());
    await report.check(['LRN-3'], () => student.accumulates());
    // Sums are seen as what accumulates.
    if (report.settled('LRN-3')) report.skip(['LRN-4'], 'LRN-3 is broken or left out');
    else await report.check(['LRN-4'], () => student.isLinear());
    await report.check(['LRN-5'], () => student.ignoresMasked());
    await report.check(['LRN-6'], () => student.steps());
    await report.check(['LRN-7'], () => student.refusesInfinity());
    await report.check(['LRN-9'], () => student.keepsReference());
    await report.check(['LRN-8'], () => student.savesAndLoads(join(folder, 'middle')));
    await report.check(['LRN-8'], () => student.load(join(folder, 'first')));
    // Last, for a critic stays.
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
    for (const [name, rows] of [
      ['logprobs', logprobs],
      ['entropy', entropy],
    ] as const) {
      const lengths = rows?.map((row) => row.length);
      const expected = this.#rows.map(({ tokens }) => tokens.length);
      if (JSON.stringify(lengths) !== JSON.stringify(expected)) {
        throw new Violation('LRN-1', `${name} of lengths ${expected}`, brief(lengths));
      }
      const sign = name === 'logprobs' ? -1 : 1;
      for (const [b, t, value] of cells(rows)) {
        const masked = this.#rows[b]!.mask[t] === 0;
        if (masked ? value === 0 : Number.isFinite(value) && sign * value >= -1e-5) continue;
        const what = masked ? '0 where the mask is 0' : `finite and ${sign < 0 ? '≤' : '≥'} 0`;
        throw new Violation('LRN-1', `${name}[${b}][${t}] ${what}`, String(value));
      }
    }
  }

  async rowsAlone(): Promise<void> {
    const together = await this.#forward('LRN-2');
    for (const [b, row] of this.#rows.entries()) {
      const alone = await this.#forward('LRN-2', { rows: [row] });
      for (const name of ['logprobs', 'entropy'] as const) {
        expectNear('LRN-2', `${name}[${b}] alone as in the batch`, [together[name][b]!], alone[name]);
      }
    }
  }

  /** Dividing the logits by more than 1 makes a distribution flatter, whatever it was; absent means 1. */
  async temperature(): Promise<void> {
    const plain = await this.#forward('LRN-10');
    const one = await this.#forward('LRN-10', { rows: this.#rows, temperature: 1 });
    expectNear('LRN-10', 'logprobs at temperature 1 as without', plain.logprobs, one.logprobs);
    const hot = await this.#forward('LRN-10', { rows: this.#rows, temperature: 2 });
    const cold = await this.#forward('LRN-10', { rows: this.#rows, temperature: 0.5 });
    const sums = [cold, plain, hot].map(({ entropy }) => sum(entropy));
    if (sums[0]! < sums[1]! && sums[1]! < sums[2]!) return;
    // A distribution that is flat already stays so.
    if (sums[2]! - sums[0]! < outputTolerance && this.#isFlat(plain)) return;
    throw new Violation('LRN-10', 'entropy that rises with the temperatures 0.5, 1 and 2', brief(sums));
  }

  #isFlat({ logprobs, entropy }: TokenOutputs): boolean {
    return Math.abs(sum(logprobs) + sum(entropy)) < outputTolerance;
  }

  async accumulates(): Promise<void> {
    const whole = await this.#norm('LRN-3', () => this.#backward('LRN-3', this.#d1));
    const inParts = await this.#norm('LRN-3', async () => {
      for (const [b, row] of this.#rows.entries()) {
        await this.#backward('LRN-3', [this.#d1[b]!], { rows: [row] });
      }
    });
    expectNorm('LRN-3', 'a gradient norm row by row as of the whole batch', whole, inParts);
    const twice = await this.#norm('LRN-3', async () => {
      await this.#backward('LRN-3', this.#d1);
      await this.#backward('LRN-3', this.#d1);
    });
    expectNorm('LRN-3', 'twice the gradient norm after two equal backwards', 2 * whole, twice);
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
    expectNorm('LRN-4', 'the norm of two backwards for the sum of their dLogprobs', apart, joined);

    const zeros = scale(this.#d1, 0);
    const entropy = await this.#norm('LRN-4', () => this.#backward('LRN-4', zeros, { dEntropy: this.#d2 }));
    const doubled = await this.#norm('LRN-4', () =>
      this.#backward('LRN-4', zeros, { dEntropy: scale(this.#d2, 2) }),
    );
    expectNorm('LRN-4', 'twice the norm for twice dEntropy', 2 * entropy, doubled);
  }

  async ignoresMasked(): Promise<void> {
    const clean = await this.#norm('LRN-5', () => this.#backward('LRN-5', this.#d1));
    for (const junk of [1000, Number.NaN]) {
      const dirty = this.#d1.map((row, b) =>
        row.map((value, t) => (this.#rows[b]!.mask[t] === 1 ? value : junk)),
      );
      const norm = await this.#norm('LRN-5', () => this.#backward('LRN-5', dirty));
      expectNorm('LRN-5', `the same norm with ${junk} where the mask is 0`, clean, norm);
    }
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
    if (sum(after.logprobs) > sum(before.logprobs)) return;
    throw new Violation(
      'LRN-6',
      `logprobs that rise from ${sum(before.logprobs)} for dLogprobs of −1`,
      String(sum(after.logprobs)),
    );
  }

  async refusesInfinity(): Promise<void> {
    const before = await this.#forward('LRN-7');
    const infinite = this.#d1.map((row, b) =>
      row.map((_, t) => (this.#rows[b]!.mask[t] === 1 ? Number.POSITIVE_INFINITY : 0)),
    );
    await this.#backward('LRN-7', infinite);
    const refused = await answered('LRN-7', 'an answer of step()', this.#timeout, () =>
      this.#learner.step({ learningRate }).then(brief, () => undefined),
    );
    if (refused !== undefined) throw new Violation('LRN-7', 'step() to throw', refused);
    const after = await this.#forward('LRN-7');
    expectNear('LRN-7', 'weights as they were', before.logprobs, after.logprobs);
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

  /** What a loaded learner computes, and how it goes on: without the optimizer's state, the same step leads elsewhere. */
  async savesAndLoads(folder: string): Promise<void> {
    for (let i = 0; i < 3; i++) await this.#train('LRN-8');
    await this.save(folder);
    const saved = await this.#forward('LRN-8');
    await this.#train('LRN-8', this.#d2);
    const wentOn = await this.#forward('LRN-8');
    await this.#train('LRN-8');
    await this.load(folder);
    const loaded = await this.#forward('LRN-8');
    expectNear('LRN-8', 'the saved outputs after load()', saved.logprobs, loaded.logprobs);
    await this.#train('LRN-8', this.#d2);
    const again = await this.#forward('LRN-8');
    expectNear('LRN-8', 'the same next step after load()', wentOn.logprobs, again.logprobs);
  }

  hasCritic(folder: string): Promise<void> {
    return checkCritic(this.#learner, this.#rows, { folder, timeout: this.#timeout });
  }

  async save(folder: string): Promise<void> {
    await answered('LRN-8', 'save() to end', this.#timeout, () => this.#learner.save(folder));
  }

  async load(folder: string): Promise<void> {
    await answered('LRN-8', 'load() to end', this.#timeout, () => this.#learner.load(folder));
  }

  #forward(rule: RuleId, batch: TokenBatch = { rows: this.#rows }): Promise<TokenOutputs> {
    return answered(rule, 'outputs of forward()', this.#timeout, () => this.#learner.forward(batch));
  }

  #backward(
    rule: RuleId,
    dLogprobs: Rows,
    { rows = this.#rows, dEntropy }: { rows?: TokenRow[]; dEntropy?: Rows } = {},
  ): Promise<void> {
    const gradients = dEntropy ? { dLogprobs, dEntropy } : { dLogprobs };
    return answered(rule, 'backward() to end', this.#timeout, () =>
      this.#learner.backward({ rows }, gradients),
    );
  }

  /** The norm of the gradients that `accumulate` makes; they are cleared, and no weight moves. */
  async #norm(rule: RuleId, accumulate: () => Promise<void>): Promise<number> {
    await accumulate();
    const step = () => this.#learner.step({ learningRate: 0 });
    const { gradNorm } = await answered(rule, 'a gradient norm', this.#timeout, step);
    return gradNorm;
  }

  /** One step that makes the masked tokens more likely, or moves along `dLogprobs`. */
  async #train(
    rule: RuleId,
    dLogprobs: Rows = this.#rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit)),
  ): Promise<void> {
    await this.#backward(rule, dLogprobs);
    await answered(rule, 'step() to end', this.#timeout, () => this.#learner.step({ learningRate }));
  }
}

function expectNear(rule: RuleId, what: string, expected: Rows, received: Rows): void {
  for (const [b, t, value] of cells(expected)) {
    const other = received[b]?.[t] ?? Number.NaN;
    if (Math.abs(value - other) <= outputTolerance) continue;
    throw new Violation(rule, `${what}: ${value} at [${b}][${t}]`, String(other));
  }
}

function expectNorm(rule: RuleId, what: string, expected: number, received: number): void {
  if (Math.abs(expected - received) <= normTolerance * Math.max(1e-6, Math.abs(expected))) return;
  throw new Violation(rule, `${what}: ${expected}`, String(received));
}

function* cells(rows: Rows): Generator<[b: number, t: number, value: number]> {
  for (const [b, row] of rows.entries()) for (const [t, value] of row.entries()) yield [b, t, value];
}

function sum(rows: Rows): number {
  let total = 0;
  for (const [, , value] of cells(rows)) total += value;
  return total;
}

function scale(rows: Rows, by: number): Rows {
  return rows.map((row) => row.map((value) => value * by));
}

function add(a: Rows, b: Rows): Rows {
  return a.map((row, i) => row.map((value, t) => value + b[i]![t]!));
}
