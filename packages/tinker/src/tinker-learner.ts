/**
 * TinkerLearner: trains a model on a Tinker server by any loss. The server's `importance_sampling` has the gradient −Aₜ·∇ℓₜ
 * where the sampled log-probability is the present one, so that advantages are the gradients of our loss with another sign.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import type {
  AdamW,
  BackwardOutputs,
  Learner,
  Rows,
  TokenBatch,
  TokenGradients,
  TokenOutputs,
  TokenRow,
} from '@toolenv/core/learner';
import type { Datum } from './messages.ts';
import type { Normalisation } from './normalisation.ts';
import { type ModelShape, RemoteModel } from './remote-model.ts';
import type { Session } from './session.ts';
import type { SharedModel } from './shared-model.ts';

export interface LearnerParts {
  session: Session;
  shape: ModelShape;
  shared: SharedModel;
  normalisation: Normalisation;
  /** The gradient norm to which the server clips; 0 if it does not. */
  clipsAt: number;
}

/** A row that waits for a step. */
interface Queued {
  row: TokenRow;
  /** [T − 1] of the targets, under the present weights. */
  logprobs: Float32Array;
  /** [T] ∂loss/∂logprobs. */
  slopes: Float32Array;
}

const referenceFile = 'tinker.json';

export class TinkerLearner implements Learner {
  readonly trains: 'weights' | 'adapter';
  readonly #parts: LearnerParts;
  readonly #references: RemoteModel[] = [];
  #queue: Queued[] = [];
  /** What the server computed with the present weights, by the row's tokens. */
  #fresh: WeakMap<Int32Array, Float32Array> = new WeakMap();
  /** Why the model's state on the server is unknown. */
  #broken: unknown;

  constructor(parts: LearnerParts) {
    this.#parts = parts;
    this.trains = parts.shape.rank === 0 ? 'weights' : 'adapter';
  }

  /** @throws ToolEnvError `usage.tinker_temperature`, `infrastructure.tinker_*`. */
  async forward(batch: TokenBatch): Promise<TokenOutputs> {
    refuseTemperature(batch);
    this.#refuseBroken();
    const missing = batch.rows.filter(({ tokens }) => !this.#fresh.has(tokens));
    const computed = await logprobsOf(this.#parts.shared.model, missing);
    for (const [tokens, logprobs] of computed) this.#fresh.set(tokens, logprobs);
    return { logprobs: batch.rows.map((row) => atMask(row, this.#fresh.get(row.tokens))) };
  }

  /**
   * Sends nothing but what the present log-probabilities need: the weight of a row depends on how many there are in the step.
   * @throws ToolEnvError `usage.tinker_entropy` for a gradient of the entropy, `bug.critic`, and as {@link forward} does.
   */
  async backward(
    batch: TokenBatch,
    { dLogprobs, dEntropy, dValues }: TokenGradients,
  ): Promise<BackwardOutputs> {
    if (dValues) throw new ToolEnvError('bug.critic', 'A Tinker server trains no critic: leave dValues out.');
    if (dEntropy) {
      const message =
        'A Tinker server computes no gradient of the entropy: set --entropy-coefficient 0, or train with a checkpoint folder.';
      throw new ToolEnvError('usage.tinker_entropy', message);
    }
    const { logprobs } = await this.forward(batch);
    for (const [b, row] of batch.rows.entries()) {
      const slopes = dLogprobs[b]!;
      if (!row.mask.some((bit, t) => t > 0 && bit === 1 && slopes[t] !== 0)) continue;
      this.#queue.push({ row, logprobs: this.#fresh.get(row.tokens)!, slopes: Float32Array.from(slopes) });
    }
    return { logprobs };
  }

  /**
   * @throws ToolEnvError `bug.gradient_not_finite` before anything is sent, because one such number spoils every model of the
   *   server; `usage.tinker_clipping`; `infrastructure.tinker_not_finite` if the server's norm is no number;
   *   `infrastructure.tinker_*`. After the latter, the weights are unknown: load a checkpoint.
   */
  async step(optimizer: AdamW): Promise<{ gradNorm: number }> {
    const queue = this.#queue;
    this.#queue = [];
    this.#refuseBroken();
    if (optimizer.criticOnly || queue.length === 0) return { gradNorm: 0 };
    this.#refuseClipping(optimizer.maxGradNorm);
    const data = queue.map((queued) => this.#datum(queued, queue.length));
    return this.#parts.shared.change(async (model) => {
      this.#fresh = new WeakMap();
      try {
        await model.accumulate(data);
        const gradNorm = await model.step(optimizer);
        if (Number.isFinite(gradNorm)) return { gradNorm };
        const message = `${this.#parts.session.connection.url} has the gradient norm ${gradNorm}: its weights are no longer numbers. Start the server anew and resume from the last checkpoint.`;
        throw new ToolEnvError('infrastructure.tinker_not_finite', message);
      } catch (error) {
        this.#broken = error;
        throw error;
      }
    });
  }

  /** A second model on the server, which has to have room for it. */
  async reference(): Promise<Pick<Learner, 'forward'>> {
    this.#refuseBroken();
    const { session, shape, shared } = this.#parts;
    if (shape.rank === 0) {
      const message =
        'A server that trains every weight has room for one model: set --beta 0 and --kl-every 0, or a --lora-rank above 0.';
      throw new ToolEnvError('usage.tinker_reference', message);
    }
    const reference = await RemoteModel.restore(session, shape, await shared.model.save(), false);
    this.#references.push(reference);
    return {
      forward: async (batch) => {
        refuseTemperature(batch);
        const fresh = await logprobsOf(reference, batch.rows);
        return { logprobs: batch.rows.map((row) => atMask(row, fresh.get(row.tokens))) };
      },
    };
  }

  /** Saves weights and optimizer state on the server; the folder says where. */
  async save(folder: string): Promise<void> {
    this.#refuseBroken();
    const { session, shape, shared } = this.#parts;
    const path = await shared.model.save();
    const reference = { version: 1, baseModel: session.baseModel, rank: shape.rank, path };
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, referenceFile), `${JSON.stringify(reference)}\n`);
  }

  /** @throws ToolEnvError `usage.checkpoint_missing`, `usage.checkpoint_damaged`, `usage.checkpoint_other_base`. */
  async load(folder: string): Promise<void> {
    const { session, shape, shared } = this.#parts;
    const path = await readPath(folder, session.baseModel, shape.rank);
    await shared.change(async (old) => {
      this.#queue = [];
      this.#fresh = new WeakMap();
      // First, because the server may have room for one model only.
      await old.unload();
      shared.model = await RemoteModel.restore(session, shape, path, true);
    });
    this.#broken = undefined;
  }

  async close(): Promise<void> {
    for (const model of [...this.#references, this.#parts.shared.model]) await model.unload();
  }

  #datum({ row, logprobs, slopes }: Queued, rows: number): Datum {
    const weights = Float32Array.from(row.mask.subarray(1), (bit) => (bit === 1 ? 1 : 0));
    const weight = weights.reduce((sum, bit) => sum + bit, 0);
    // Undoes the server's normalisation.
    const factor = this.#parts.normalisation === 'mean' ? rows * weight : 1;
    const advantages = weights.map((bit, t) => (bit === 1 ? -factor * slopes[t + 1]! : 0));
    if (!advantages.every(Number.isFinite)) {
      const message = 'The gradient of the loss is not finite; nothing was sent. Check the loss.';
      throw new ToolEnvError('bug.gradient_not_finite', message);
    }
    // Elsewhere they count for nothing, and must be finite all the same.
    const present = logprobs.map((logprob, t) => (weights[t] === 1 ? logprob : 0));
    return { ...shifted(row), inputs: { weights, logprobs: present, advantages } };
  }

  #refuseClipping(wanted = 0): void {
    const { clipsAt, session } = this.#parts;
    if (wanted === clipsAt) return;
    const does = clipsAt === 0 ? 'does not clip gradients' : `clips gradients to the norm ${clipsAt}`;
    const message = `${session.connection.url} ${does}, and cannot be told otherwise: set --max-grad-norm ${clipsAt}.`;
    throw new ToolEnvError('usage.tinker_clipping', message);
  }

  #refuseBroken(): void {
    if (this.#broken === undefined) return;
    const message = 'The weights on the server are unknown after a fault: resume from the last checkpoint.';
    throw new ToolEnvError('infrastructure.tinker_lost', message, { cause: this.#broken });
  }
}

function refuseTemperature({ temperature = 1 }: TokenBatch): void {
  if (temperature === 1) return;
  const message = `A Tinker server returns log-probabilities at temperature 1, not at ${temperature}: set --temperature 1.`;
  throw new ToolEnvError('usage.tinker_temperature', message);
}

/** @throws ToolEnvError `infrastructure.tinker_not_finite`. */
async function logprobsOf(
  model: RemoteModel,
  rows: readonly TokenRow[],
): Promise<Map<Int32Array, Float32Array>> {
  const asked = [...new Map(rows.map((row) => [row.tokens, row])).values()].filter(
    ({ tokens }) => tokens.length > 1,
  );
  const computed = await model.logprobs(asked.map(shifted));
  if (computed.some((row) => !row.every(Number.isFinite))) {
    const message =
      'The server gives log-probabilities that are not finite: its weights are no longer numbers. Start the server anew and resume from the last checkpoint.';
    throw new ToolEnvError('infrastructure.tinker_not_finite', message);
  }
  return new Map(asked.map(({ tokens }, b) => [tokens, computed[b]!]));
}

function shifted({ tokens }: TokenRow): Pick<Datum, 'tokens' | 'targets'> {
  return { tokens: tokens.subarray(0, -1), targets: tokens.subarray(1) };
}

/** [T] from the [T − 1] of the targets; 0 where the mask is 0. */
function atMask({ mask }: TokenRow, logprobs: Float32Array | undefined): Rows[number] {
  return Float32Array.from(mask, (bit, t) => (bit === 1 && t > 0 ? logprobs![t - 1]! : 0));
}

async function readPath(folder: string, baseModel: string, rank: number): Promise<string> {
  const file = join(folder, referenceFile);
  let saved: Record<string, unknown>;
  try {
    saved = Object(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    const isMissing = (cause as { code?: string }).code === 'ENOENT';
    const code = isMissing ? 'usage.checkpoint_missing' : 'usage.checkpoint_damaged';
    const message = `${file} ${isMissing ? 'is missing' : 'is damaged'}: name a checkpoint of a run on a Tinker server.`;
    throw new ToolEnvError(code, message, { cause });
  }
  if (typeof saved.path !== 'string') {
    throw new ToolEnvError('usage.checkpoint_damaged', `${file}: path: expected a text.`);
  }
  if (saved.baseModel === baseModel && saved.rank === rank) return saved.path;
  const message = `${file} is of rank ${saved.rank} over ${saved.baseModel}, and the policy has rank ${rank} over ${baseModel}: open it with the model of its training.`;
  throw new ToolEnvError('usage.checkpoint_other_base', message);
}
