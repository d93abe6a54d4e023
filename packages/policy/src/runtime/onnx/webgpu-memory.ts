/** WebGPU's memory. Only outputs get there and only outputs come back, so a copy is what a program of nothing else puts out. */
import type { InferenceSession } from 'onnxruntime-node';
import type { DeviceMemory, Tensor } from '../runtime.ts';
import { GraphBuilder } from './graph-builder.ts';
import { openSession } from './open-session.ts';
import { fromOrt, toOrt } from './ort-tensor.ts';
import { gaveUp } from './reason.ts';

export class WebGpuMemory implements DeviceMemory {
  readonly isRemote = true;
  readonly #options: InferenceSession.SessionOptions;
  /** Open for as long as the process runs: with the last of all sessions, WebGPU's memory would go. */
  readonly #sessions: Map<string, Promise<InferenceSession>> = new Map();

  constructor(options: InferenceSession.SessionOptions) {
    this.#options = options;
  }

  copy(tensor: Tensor): Promise<Tensor> {
    return this.#copy(tensor, 'gpu-buffer');
  }

  read(tensor: Tensor): Promise<Tensor> {
    return this.#copy(tensor, 'cpu');
  }

  /** To be called before there is anything in this memory. */
  async keep(): Promise<void> {
    await this.#session(1, 'gpu-buffer');
  }

  async #copy(tensor: Tensor, location: Location): Promise<Tensor> {
    const session = await this.#session(tensor.dims.length, location);
    const { copy } = await session.run({ tensor: toOrt(tensor) }).catch((error) => gaveUp('webgpu', error));
    return fromOrt(copy!);
  }

  #session(rank: number, location: Location): Promise<InferenceSession> {
    const key = `${rank} ${location}`;
    const known = this.#sessions.get(key);
    if (known) return known;
    const options = { ...this.#options, preferredOutputLocation: location };
    const session = openSession('webgpu', identity(rank), options);
    this.#sessions.set(key, session);
    session.catch(() => this.#sessions.delete(key));
    return session;
  }
}

type Location = 'gpu-buffer' | 'cpu';

function identity(rank: number): Uint8Array {
  const graph = new GraphBuilder();
  const shape = Array.from({ length: rank }, (_, axis) => `d${axis}`);
  return graph.build({ copy: graph.input('tensor', 'float32', shape) }).model;
}
