/**
 * Where ONNX Runtime places the nodes of its programs. A node that the device has no kernel for runs on the CPU, without a warning,
 * and what it reads and writes travels through this process's memory at each run.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession } from 'onnxruntime-node';
import {
  decodeGraph,
  encodeModel,
  type GraphProto,
} from '../../packages/policy/src/runtime/onnx/onnx-proto.ts';

export interface PlacedTensor {
  name: string;
  /** ONNX Runtime's name of the element type: `float`, `int64`, … */
  type: string;
  /** At the node's first run. */
  dims: readonly number[];
}

export interface PlacedNode {
  name: string;
  opType: string;
  /** `CPUExecutionProvider`, `WebGpuExecutionProvider`, … */
  provider: string;
  inputs: PlacedTensor[];
  outputs: PlacedTensor[];
}

/** An event of a profiling file, which has Chrome's trace event format. Only the fields that are read here; `dur` is in microseconds. */
export interface ProfileEvent {
  cat: string;
  name: string;
  dur: number;
  args?: {
    /** Of a kernel on a GPU. */
    shapes?: string;
    op_name?: string;
    provider?: string;
    /** Each element has one entry: type and shape. */
    input_type_shape?: Record<string, number[]>[];
    output_type_shape?: Record<string, number[]>[];
  };
}

export type Create = (
  model: Uint8Array,
  options: InferenceSession.SessionOptions,
) => Promise<InferenceSession>;

/** What the names of the events of nodes end with. */
export const eventSuffix = '_kernel_time';
/** An int64 vector of more numbers is not a shape. */
const maxDims = 8;

export const cpuProvider = 'CPUExecutionProvider';

/**
 * The nodes that ran, each once.
 * @param profile The text of the session's profiling file.
 * @param graph The session's optimized graph. It names the tensors of each node; the profile has only their types and shapes.
 */
export function placedNodes(
  profile: string,
  graph: { node: Pick<GraphProto['node'][number], 'name' | 'input' | 'output'>[] },
): PlacedNode[] {
  const known = new Map(graph.node.map((node) => [node.name, node]));
  const found = new Map<string, PlacedNode>();
  for (const { cat, name: event, args } of JSON.parse(profile) as ProfileEvent[]) {
    if (cat !== 'Node' || !args?.provider || !event.endsWith(eventSuffix)) continue;
    const name = event.slice(0, -eventSuffix.length);
    if (found.has(name)) continue;
    const { input = [], output = [] } = known.get(name) ?? {};
    found.set(name, {
      name,
      opType: args.op_name!,
      provider: args.provider,
      inputs: placedTensors(input, args.input_type_shape),
      outputs: placedTensors(output, args.output_type_shape),
    });
  }
  return [...found.values()];
}

function placedTensors(
  names: readonly string[],
  typeShapes: Record<string, number[]>[] = [],
): PlacedTensor[] {
  // An optional tensor that is left out has an empty name in the graph and no entry in the profile.
  const given = names.filter((name) => name !== '');
  return typeShapes.map((typeShape, index) => {
    const [[type, dims]] = Object.entries(typeShape) as [[string, number[]]];
    return { name: given[index] ?? '?', type, dims };
  });
}

/**
 * The nodes that take tensors off the device: nodes on the CPU, and copies to and from it. A node whose tensors are all shapes takes
 * nothing off the device.
 */
export function nodesOffDevice(nodes: readonly PlacedNode[]): PlacedNode[] {
  return nodes.filter(
    ({ opType, provider, inputs, outputs }) =>
      (provider === cpuProvider || opType.startsWith('Memcpy')) && ![...inputs, ...outputs].every(isShape),
  );
}

/** Whether a tensor can be a shape, or a part of one: a few whole numbers. */
function isShape({ type, dims }: PlacedTensor): boolean {
  return type === 'int64' && dims.length <= 1 && (dims[0] ?? 1) <= maxDims;
}

/** One line: the node, its type, and the tensors that it reads and writes. */
export function describeNode({ name, opType, provider, inputs, outputs }: PlacedNode): string {
  const list = (tensors: readonly PlacedTensor[]) =>
    tensors.map(({ name, type, dims }) => `"${name}" ${type}[${dims}]`).join(', ');
  return `${opType} "${name}" (${provider}) reads ${list(inputs)} and writes ${list(outputs)}`;
}

/** Watches the sessions that this process opens from now on, but for sessions on the CPU. */
export class PlacementWatch {
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'toolenv-placement-'));
  /** Of each watched session that is open: ends the watch and keeps what was seen. */
  readonly #endings: Set<() => void> = new Set();
  #nodes: PlacedNode[] = [];
  #count = 0;

  constructor() {
    const create = InferenceSession.create.bind(InferenceSession) as Create;
    const watchedCreate: Create = (model, options) =>
      options.executionProviders?.[0] === 'cpu'
        ? create(model, options)
        : this.#watch(create, model, options);
    InferenceSession.create = watchedCreate as typeof InferenceSession.create;
    process.once('exit', () => rmSync(this.#folder, { recursive: true }));
  }

  /**
   * The nodes that ran in sessions that were opened since the last call. A session that is still open is not watched any longer.
   */
  take(): PlacedNode[] {
    for (const end of [...this.#endings]) end();
    const nodes = this.#nodes;
    this.#nodes = [];
    return nodes;
  }

  async #watch(
    create: Create,
    model: Uint8Array,
    options: InferenceSession.SessionOptions,
  ): Promise<InferenceSession> {
    const prefix = `session${this.#count++}`;
    const optimized = join(this.#folder, `${prefix}.onnx`);
    const session = await create(withNodeNames(model), {
      ...options,
      enableProfiling: true,
      profileFilePrefix: join(this.#folder, prefix),
      optimizedModelFilePath: optimized,
    });
    const end = () => {
      this.#endings.delete(end);
      session.endProfiling();
      // ONNX Runtime adds the time to the name.
      const profile = join(
        this.#folder,
        readdirSync(this.#folder).find((file) => file.startsWith(`${prefix}_`))!,
      );
      this.#nodes.push(...placedNodes(readFileSync(profile, 'utf8'), decodeGraph(readFileSync(optimized))));
      for (const file of [profile, optimized]) rmSync(file);
    };
    this.#endings.add(end);
    const release = session.release.bind(session);
    session.release = async () => {
      if (this.#endings.has(end)) end();
      await release();
    };
    return session;
  }
}

/** Names each node by its first output: without a name, the profile and the optimized graph could not be matched. */
function withNodeNames(model: Uint8Array): Uint8Array {
  const graph = decodeGraph(model);
  return encodeModel({ ...graph, node: graph.node.map((node) => ({ ...node, name: node.output[0] })) });
}
