/** Learners that break one rule each. All are changes of one valid learner. */
import type {
  AdamW,
  BackwardOutputs,
  Learner,
  Noise,
  Rows,
  TokenBatch,
  TokenGradients,
  TokenOutputs,
} from '@toolenv/core/learner';
import type { RuleId } from '../../src/index.ts';
import { TableLearner } from '../table-model.ts';

type Backward = ReturnType<Learner['backward']>;

class Learning extends TableLearner {
  override backward(batch: TokenBatch, gradients: TokenGradients): Backward {
    return super.backward(batch, { ...gradients, dLogprobs: this.given(gradients.dLogprobs, batch) });
  }
  /** The gradients to use instead of `dLogprobs`. */
  given(dLogprobs: Rows, _batch: TokenBatch): Rows {
    return dLogprobs;
  }
}

export const brokenLearners: readonly [what: string, rule: RuleId, make: () => Learner][] = [
  [
    'outputs where the mask is 0',
    'LRN-1',
    () =>
      new (class extends TableLearner {
        override async forward(batch: TokenBatch): Promise<TokenOutputs> {
          const all = {
            ...batch,
            rows: batch.rows.map((row) => ({ ...row, mask: row.mask.map((_, t) => (t > 0 ? 1 : 0)) })),
          };
          return super.forward(all);
        }
      })(),
  ],
  [
    'outputs padded to one length',
    'LRN-1',
    () =>
      new (class extends TableLearner {
        override async forward(batch: TokenBatch): Promise<TokenOutputs> {
          const { logprobs, entropy } = await super.forward(batch);
          return {
            logprobs: logprobs.map((row) => Float32Array.from({ length: 11 }, (_, t) => row[t] ?? 0)),
            entropy,
          };
        }
      })(),
  ],
  [
    'rows that affect each other',
    'LRN-2',
    () =>
      new (class extends TableLearner {
        override async forward(batch: TokenBatch): Promise<TokenOutputs> {
          const { logprobs, ...others } = await super.forward(batch);
          return { logprobs: logprobs.map((row) => row.map((x) => x * batch.rows.length)), ...others };
        }
      })(),
  ],
  [
    'gradients of the last batch only',
    'LRN-3',
    () =>
      new (class extends TableLearner {
        override backward(batch: TokenBatch, gradients: TokenGradients): Backward {
          this.gradient.fill(0);
          return super.backward(batch, gradients);
        }
      })(),
  ],
  [
    'gradients averaged over the rows',
    'LRN-3',
    () =>
      new (class extends Learning {
        override given(dLogprobs: Rows, { rows }: TokenBatch): Rows {
          return dLogprobs.map((row) => row.map((value) => value / rows.length));
        }
      })(),
  ],
  [
    'gradients of a fixed size',
    'LRN-4',
    () =>
      new (class extends Learning {
        override given(dLogprobs: Rows): Rows {
          return dLogprobs.map((row) =>
            row.map((value) => (Number.isFinite(value) ? Math.sign(value) : value)),
          );
        }
      })(),
  ],
  [
    'gradients at masked tokens',
    'LRN-5',
    () =>
      new (class extends TableLearner {
        override async backward({ rows, ...batch }: TokenBatch, gradients: TokenGradients): Promise<void> {
          const all = rows.map((row) => ({ ...row, mask: row.mask.map((_, t) => (t > 0 ? 1 : 0)) }));
          await super.backward({ ...batch, rows: all }, gradients);
        }
      })(),
  ],
  [
    'steps uphill',
    'LRN-6',
    () =>
      new (class extends Learning {
        override given(dLogprobs: Rows): Rows {
          return dLogprobs.map((row) => row.map((value) => -value));
        }
      })(),
  ],
  [
    'a change at learning rate 0',
    'LRN-6',
    () =>
      new (class extends TableLearner {
        override step(optimizer: AdamW): Promise<{ gradNorm: number }> {
          return super.step({ ...optimizer, learningRate: optimizer.learningRate || 0.1 });
        }
      })(),
  ],
  [
    'a step that accepts a gradient that is not finite',
    'LRN-7',
    () =>
      new (class extends TableLearner {
        override async step(optimizer: AdamW): Promise<{ gradNorm: number }> {
          if (!Number.isFinite(Math.hypot(...this.gradient))) this.gradient.fill(0);
          return super.step(optimizer);
        }
      })(),
  ],
  [
    'optimizer state that is not loaded',
    'LRN-8',
    () =>
      new (class extends TableLearner {
        override async load(folder: string): Promise<void> {
          await super.load(folder);
          this.moments.first.fill(0);
        }
      })(),
  ],
  [
    'weights that are not loaded',
    'LRN-8',
    () =>
      new (class extends TableLearner {
        override async load(): Promise<void> {}
      })(),
  ],
  [
    'a reference that changes with the learner',
    'LRN-9',
    () =>
      new (class extends TableLearner {
        override async reference(): Promise<Pick<Learner, 'forward'>> {
          return this;
        }
      })(),
  ],
  [
    'an ignored temperature',
    'LRN-10',
    () =>
      new (class extends TableLearner {
        override forward({ rows }: TokenBatch): Promise<TokenOutputs> {
          return super.forward({ rows });
        }
      })(),
  ],
  [
    'a criticOnly step that changes the policy',
    'LRN-11',
    () =>
      new (class extends TableLearner {
        override step(optimizer: AdamW): Promise<{ gradNorm: number }> {
          return super.step({ ...optimizer, criticOnly: false });
        }
      })(),
  ],
  [
    'a critic that is not saved',
    'LRN-11',
    () =>
      new (class extends TableLearner {
        override async load(folder: string): Promise<void> {
          const { values } = this;
          await super.load(folder);
          this.values = values;
        }
      })(),
  ],
  [
    'a critic that does not learn',
    'LRN-11',
    () =>
      new (class extends TableLearner {
        override backward(batch: TokenBatch, { dValues: _, ...gradients }: TokenGradients): Backward {
          return super.backward(batch, gradients);
        }
      })(),
  ],
  [
    'a critic without values',
    'LRN-11',
    () =>
      new (class extends TableLearner {
        override async addCritic(): Promise<void> {}
      })(),
  ],
  [
    'a backward pass that returns the outputs of another temperature',
    'LRN-12',
    () =>
      new (class extends TableLearner {
        override async backward(batch: TokenBatch, gradients: TokenGradients): Promise<BackwardOutputs> {
          await super.backward(batch, gradients);
          return this.forward({ ...batch, temperature: 2 });
        }
      })(),
  ],
  [
    'weights that are nearly as before the noise',
    'LRN-13',
    () =>
      new (class extends TableLearner {
        override async perturb(noise?: Noise): Promise<void> {
          const isOver = this.calm && !noise;
          await super.perturb(noise);
          if (isOver) this.table = this.table.map((weight) => weight * (1 + 1e-6));
        }
      })(),
  ],
  [
    'the same noise for all seeds',
    'LRN-13',
    () =>
      new (class extends TableLearner {
        override perturb(noise?: Noise): Promise<void> {
          return super.perturb(noise && { ...noise, seed: 1 });
        }
      })(),
  ],
  [
    'noise that stays',
    'LRN-13',
    () =>
      new (class extends TableLearner {
        override async perturb(noise?: Noise): Promise<void> {
          if (noise) await super.perturb(noise);
        }
      })(),
  ],
  [
    'noise that is saved',
    'LRN-13',
    () =>
      new (class extends TableLearner {
        override async save(folder: string): Promise<void> {
          const { calm } = this;
          this.calm = undefined;
          await super.save(folder);
          this.calm = calm;
        }
      })(),
  ],
  [
    'a shift by other noise than that which was tried',
    'LRN-13',
    () =>
      new (class extends TableLearner {
        override shift(noise: readonly Noise[]): Promise<void> {
          return super.shift(noise.map((each) => ({ ...each, seed: each.seed + 1 })));
        }
      })(),
  ],
  [
    'noise that can be tried and not kept',
    'LRN-13',
    () => Object.assign(new TableLearner(), { shift: undefined }) as Learner,
  ],
];
