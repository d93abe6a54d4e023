/** RemoteModel: one trained model on a Tinker server, a low-rank adapter or a copy of all weights. */
import { ToolEnvError } from '@toolenv/core';
import type { AdamW } from '@toolenv/core/learner';
import { type Datum, decodeLogprobs, encodeForwardBackward } from './messages.ts';
import { type Reply, readJson } from './reply.ts';
import type { Session } from './session.ts';

export interface ModelShape {
  /** Of the adapter; 0 trains every weight. */
  rank: number;
  /** Seeds the initial adapter. */
  seed: number;
}

/** Tokens of one request. The server keeps requests in a database. */
const tokensAtOnce = 2 ** 18;

export class RemoteModel {
  readonly id: string;
  readonly #session: Session;
  /** Numbers the training requests, so that the server knows a repeated request. */
  #sequence = 0;
  #saved = 0;
  #samplers = 0;

  private constructor(session: Session, id: string) {
    this.#session = session;
    this.id = id;
  }

  /** @throws ToolEnvError `usage.tinker_model` with the server's reason, and as {@link Connection.result} does. */
  static async create(session: Session, { rank, seed }: ModelShape): Promise<RemoteModel> {
    const { connection, id, baseModel } = session;
    const config = { rank, seed: seed % 2 ** 31 };
    const body = { session_id: id, base_model: baseModel, lora_config: config };
    const created = await connection.ask('create_model', body);
    try {
      await connection.retrieve(String(created.request_id));
    } catch (cause) {
      if (!ToolEnvError.isInstance(cause) || cause.code !== 'infrastructure.tinker_failed') throw cause;
      const what = rank === 0 ? 'train every weight (rank 0)' : `train an adapter of rank ${rank}`;
      const { detail } = Object(cause.cause) as { detail?: string };
      const message = `${connection.url} cannot ${what}: ${detail}. Choose another --lora-rank, or start the server with room for it.`;
      throw new ToolEnvError('usage.tinker_model', message, { cause });
    }
    return new RemoteModel(session, String(created.model_id));
  }

  /**
   * A new model with saved weights: a server loads weights only into a model without a past.
   * @param path `tinker://…`, as {@link save} returns.
   * @param withOptimizer Whether to restore the optimizer's state too.
   */
  static async restore(
    session: Session,
    shape: ModelShape,
    path: string,
    withOptimizer: boolean,
  ): Promise<RemoteModel> {
    const model = await RemoteModel.create(session, shape);
    const body = { model_id: model.id, path, optimizer: withOptimizer, seq_id: ++model.#sequence };
    try {
      // A second attempt would be refused, because the model then has a past.
      await session.connection.result('load_weights', body, { retries: 0 });
    } catch (error) {
      await model.unload();
      throw error;
    }
    return model;
  }

  /** The log-probabilities of the targets, in nats: [B][T − 1]. */
  async logprobs(data: readonly Pick<Datum, 'tokens' | 'targets'>[]): Promise<Float32Array[]> {
    const rows: Float32Array[] = [];
    const weighed = data.map((datum) => ({
      ...datum,
      inputs: { weights: new Float32Array(datum.targets.length).fill(1) },
    }));
    for (const part of inParts(weighed)) {
      const { bytes } = await this.#pass(part, 'cross_entropy', { forwardOnly: true });
      const lengths = part.map(({ targets }) => targets.length);
      rows.push(...decodeLogprobs(bytes, lengths));
    }
    return rows;
  }

  /** Adds the gradients of a loss of the server's. Each call is one or several requests. */
  async accumulate(
    data: readonly Datum[],
    loss = 'importance_sampling',
    config?: Readonly<Record<string, number>>,
  ): Promise<void> {
    for (const part of inParts(data)) await this.#pass(part, loss, config && { config });
  }

  /** @returns The gradient norm before clipping; NaN if the server computed none. */
  async step({ learningRate, beta1, beta2, epsilon, weightDecay }: AdamW): Promise<number> {
    const body = {
      model_id: this.id,
      seq_id: ++this.#sequence,
      adam_params: {
        learning_rate: learningRate,
        // The server has other defaults.
        beta1: beta1 ?? 0.9,
        beta2: beta2 ?? 0.999,
        eps: epsilon ?? 1e-8,
        weight_decay: weightDecay ?? 0,
      },
    };
    const { metrics } = await this.#json('optim_step', body);
    // JSON has null for NaN.
    return Number(Object(metrics)['skyrl.ai/grad_norm'] ?? Number.NaN);
  }

  /** Saves weights and optimizer state on the server. Returns their path. */
  async save(): Promise<string> {
    const named = () => ({ model_id: this.id, path: `toolenv-${++this.#saved}` });
    const { path } = await this.#json('save_weights', named);
    return String(path);
  }

  /** Publishes the weights for sampling. Returns the sampling session that reads them. */
  async openSampler(): Promise<string> {
    const numbered = () => ({
      model_id: this.id,
      sampling_session_seq_id: ++this.#samplers,
      seq_id: ++this.#sequence,
    });
    const { sampling_session_id: id } = await this.#json('save_weights_for_sampler', numbered);
    if (typeof id === 'string') return id;
    const message = `${this.#session.connection.url} opens no sampling session: use skyrl 0.4.0.`;
    throw new ToolEnvError('infrastructure.tinker_reply', message);
  }

  /**
   * Gives the server's memory back, before later requests are done. Nothing is thrown, because a session that ends frees its
   * models too.
   */
  async unload(): Promise<void> {
    const { connection } = this.#session;
    await connection.ask('unload_model', { model_id: this.id }, { retries: 0 }).catch(() => {});
  }

  #pass(
    data: readonly Datum[],
    loss: string,
    rest: { forwardOnly?: boolean; config?: Readonly<Record<string, number>> } = {},
  ): Promise<Reply> {
    const body = encodeForwardBackward({ modelId: this.id, seqId: ++this.#sequence, data, loss, ...rest });
    return this.#session.connection.result('forward_backward', body);
  }

  async #json(path: string, body: object | (() => object)): Promise<Record<string, unknown>> {
    const { connection } = this.#session;
    return readJson(await connection.result(path, body as Record<string, unknown>), connection.url);
  }
}

function* inParts<Row extends Pick<Datum, 'tokens'>>(data: readonly Row[]): Generator<Row[]> {
  let [part, tokens]: [Row[], number] = [[], 0];
  for (const row of data) {
    if (part.length > 0 && tokens + row.tokens.length > tokensAtOnce) {
      yield part;
      [part, tokens] = [[], 0];
    }
    part.push(row);
    tokens += row.tokens.length;
  }
  if (part.length > 0) yield part;
}
