/** VllmSampler: samples on a vLLM server from the weights that learn in this process. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { asClause, isInfrastructure, ToolEnvError } from '@toolenv/core';
import { tryObject } from '@toolenv/core/schemas';
import { untilAborted } from '@toolenv/core/tools';
import type { LearnedModel, OpenedSampler, Sample, SampleRequest, TokenSampler } from '@toolenv/policy';
import { refuseConstrainedCalls } from '../capabilities.ts';
import { type Json, refusalOf } from '../refusal.ts';
import { sampleTokens, type TokenModel } from '../sample-tokens.ts';
import { reasonOf, Server, send } from '../server.ts';
import { probeTokens } from '../token-reply.ts';
import { findVllm } from './find-vllm.ts';
import { makeScratch } from './scratch.ts';
import { VllmProcess } from './vllm-process.ts';

export interface VllmOptions {
  /** A server that runs already, such as `http://127.0.0.1:8000`. It reads the files of this machine. Default: one is started. */
  url?: string | undefined;
  /** Of the server that runs already. */
  apiKey?: string | undefined;
  /** Further arguments of `vllm serve`, for a server that is started. */
  args?: readonly string[] | undefined;
  /** Milliseconds in which a server must start, and answer a request. Default 600,000. */
  timeout?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Milliseconds in which a server of the user's may forget the last adapter. */
const patience = 2000;

/** The ranks for which vLLM keeps room. */
const ranks = [1, 8, 16, 32, 64, 128, 256, 320, 512];

/**
 * Starts a vLLM server on the loopback address, or takes one that runs.
 * @throws ToolEnvError `usage.vllm_*`, `usage.model_tokens` for a server that gives no token ids, and what `Server.ask` throws.
 */
export async function openVllmSampler(
  learned: LearnedModel,
  { url, apiKey = randomBytes(24).toString('hex'), args = [], timeout = 600_000, signal }: VllmOptions,
): Promise<OpenedSampler> {
  const scratch = await makeScratch();
  let started: VllmProcess | undefined;
  let first: Awaited<ReturnType<LearnedModel['write']>> | undefined;
  try {
    if (url === undefined) {
      const log = join(scratch, 'vllm.log');
      const { python, version } = findVllm();
      const given = { python, args: [...argumentsOf(learned, version), ...args], apiKey, log };
      // A server begins with full weights as it later loads them: see LearnedModel.write.
      if (learned.adapterRank === undefined) first = await learned.write(join(scratch, 'start'));
      const model = first?.folder ?? learned.folder;
      const env = environmentOf(learned);
      started = await VllmProcess.start({ ...given, env, model, timeout, signal });
    }
    const root = started?.url ?? url!.replace(/\/+(v1\/*)?$/, '');
    const server = new Server({ url: `${root}/v1`, apiKey, timeout, retries: 1, concurrency: 1024 });
    server.opening = signal;
    const { model, contextLength } = await baseModel(server);
    const { vocabularySize } = learned;
    const prompt = Int32Array.of(0, 1, 2).filter((id) => id < vocabularySize);
    const asked = { prompt, vocabularySize };
    const logprobsAt = await probeTokens(server, model, asked, 'leave --sampler out');
    server.opening = undefined;
    const who = `vLLM at ${root}`;
    const from = { server, model, vocabularySize, logprobsAt, who, otherwise: 'leave --sampler out' };
    const request = { root, apiKey, timeout };
    const parts = { learned, from, request, scratch, started, first: first && { ...first, model } };
    return { sampler: new VllmSampler(parts), contextLength };
  } catch (error) {
    await started?.close();
    await rm(scratch, { recursive: true, force: true });
    throw error;
  }
}

function argumentsOf({ adapterRank: rank }: LearnedModel, version: string): string[] {
  const room = ranks.find((each) => each >= (rank ?? 0));
  if (room === undefined) {
    const message = `vLLM has no room for adapters of rank ${rank}: give a rank of at most ${ranks.at(-1)}.`;
    throw new ToolEnvError('usage.vllm_adapter', message);
  }
  return [
    ...['--served-model-name', 'policy', '--generation-config', 'vllm', '--disable-uvicorn-access-log'],
    // On the CPU, vLLM 0.32 ends if it reads a prompt in pieces for a request with a seed.
    ...(version.includes('cpu') ? ['--no-enable-chunked-prefill'] : []),
    ...(rank === undefined ? [] : ['--enable-lora', '--max-lora-rank', String(room)]),
  ];
}

/** Routes that load weights exist only with these. */
function environmentOf({ adapterRank }: LearnedModel): Record<string, string> {
  return adapterRank === undefined
    ? { VLLM_SERVER_DEV_MODE: '1' }
    : { VLLM_ALLOW_RUNTIME_LORA_UPDATING: 'True' };
}

/** The model that is no adapter. @throws ToolEnvError `usage.vllm_server`. */
async function baseModel(server: Server): Promise<{ model: string; contextLength: number | undefined }> {
  const { body } = await server.ask('models');
  const listed: Json[] = Array.isArray(body?.data) ? body.data.map(Object) : [];
  const base = listed.find(({ id, parent }) => typeof id === 'string' && parent == null);
  if (!base) {
    const message = `${server.url} lists no model: give the address of a vLLM server as --sampler-url.`;
    throw new ToolEnvError('usage.vllm_server', message);
  }
  const { id, max_model_len: length } = base;
  return { model: String(id), contextLength: typeof length === 'number' ? length : undefined };
}

interface Parts {
  learned: LearnedModel;
  /** The model that the server began with. */
  from: TokenModel;
  request: { root: string; apiKey: string; timeout: number };
  /** Folder of the weights on their way. */
  scratch: string;
  /** Ends with the sampler. */
  started: VllmProcess | undefined;
  /** What the server has begun with. */
  first: Loaded | undefined;
}

/** A version of the weights on the server: the folder that it came from, and its name there. */
interface Loaded {
  version: object;
  folder: string;
  model: string;
}

export class VllmSampler implements TokenSampler {
  readonly #parts: Parts;
  readonly #name: string = `toolenv-${randomBytes(4).toString('hex')}`;
  readonly #running: Set<Promise<unknown>> = new Set();
  #count = 0;
  #loaded: Loaded | undefined;
  #loading: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#loaded = parts.first;
  }

  async sample(request: SampleRequest): Promise<Sample> {
    const { from, learned, started } = this.#parts;
    refuseConstrainedCalls({ constrainCalls: request.limit !== undefined }, from.who);
    try {
      while (this.#loaded?.version !== learned.version) {
        this.#loading ??= this.#load().finally(() => {
          this.#loading = undefined;
        });
        await untilAborted(request.signal, () => this.#loading!);
      }
      const running = this.#complete(request, this.#loaded.model);
      const settled = running.catch(() => {}).finally(() => this.#running.delete(settled));
      this.#running.add(settled);
      return await running;
    } catch (error) {
      request.signal?.throwIfAborted();
      throw (isInfrastructure(error) && (await started?.fault())) || error;
    }
  }

  async #complete(request: SampleRequest, model: string): Promise<Sample> {
    const { prompt, maxTokens, stop = [], stopTokens } = request;
    const fields = {
      stop_token_ids: stopTokens,
      // The texts of special tokens count, and the tokens of a stop text are part of the turn.
      ...(stop.length > 0 && { stop, include_stop_str_in_output: true, skip_special_tokens: false }),
    };
    const asked = { prompt, maxTokens, spoken: true };
    const { tokens, logprobs, isCut } = await sampleTokens(
      { ...this.#parts.from, model },
      asked,
      request,
      fields,
    );
    return { tokens, logprobs, stopped: !isCut };
  }

  /** Turns that have begun end on the weights on which they began. */
  async #load(): Promise<void> {
    await Promise.all(this.#running);
    const { learned, scratch, from } = this.#parts;
    const name = `${this.#name}-${this.#count++}`;
    const { version, folder } = await learned.write(join(scratch, name));
    const before = this.#loaded;
    if (learned.adapterRank === undefined) {
      const method = { method: 'reload_weights', kwargs: { weights_path: folder } };
      await this.#tell('collective_rpc', method, 'start it with VLLM_SERVER_DEV_MODE=1');
      await this.#tell('reset_prefix_cache', {}, 'start it with VLLM_SERVER_DEV_MODE=1');
      this.#loaded = { version, folder, model: from.model };
    } else {
      const remedy = `start it with --enable-lora, --max-lora-rank ${learned.adapterRank} and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True`;
      await this.#tell('v1/load_lora_adapter', { lora_name: name, lora_path: folder }, remedy);
      this.#loaded = { version, folder, model: name };
      if (before) await this.#tell('v1/unload_lora_adapter', { lora_name: before.model }, remedy);
    }
    if (before) await rm(before.folder, { recursive: true, force: true });
  }

  /**
   * Has the server load or forget weights.
   * @param within Milliseconds.
   * @throws ToolEnvError `usage.vllm_weights` if it refuses, `infrastructure.model_unreachable`.
   */
  async #tell(path: string, body: Json, remedy: string, within = Number.POSITIVE_INFINITY): Promise<void> {
    const { from, request } = this.#parts;
    const { root, apiKey } = request;
    const timeout = Math.min(within, request.timeout);
    const headers = { authorization: `Bearer ${apiKey}` };
    const reply = await send(`${root}/${path}`, { body, headers, timeout }).catch((cause) => {
      const message = `${from.who} does not load the new weights (${reasonOf(cause)}).`;
      throw new ToolEnvError('infrastructure.model_unreachable', message, { cause });
    });
    if (reply.status < 300) return;
    const { message } = refusalOf(reply.status, tryObject(reply.text) ?? reply.text);
    const said = `${from.who} refuses ${path} with status ${reply.status} (${asClause(message)})`;
    throw new ToolEnvError('usage.vllm_weights', `${said}: ${remedy}.`);
  }

  /** vLLM forgets by itself what it has cached. */
  forget(): void {}

  /** Ends the server if this side has started it. Else it keeps full weights, and forgets an adapter. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { learned, scratch, started } = this.#parts;
    const isAdapter = learned.adapterRank !== undefined;
    if (!started && isAdapter && this.#loaded) {
      const last = { lora_name: this.#loaded.model };
      await this.#tell('v1/unload_lora_adapter', last, '', patience).catch(() => {});
    }
    await started?.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
