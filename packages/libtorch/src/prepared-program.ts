/** A recorded program, made ready to run: without operations that nobody needs, and with the place where each value is used last. */
import type { Argument, GradientRequest, RecordedNode, RecordedProgram } from '@toolenv/policy/runtime';
import type { TorchOps } from './torch-ops.ts';
import type { TorchTensor } from './torch-tensor.ts';

export interface CompileRequest {
  program: RecordedProgram;
  gradients?: GradientRequest | undefined;
  /** Outputs that the engine keeps. */
  stays: readonly string[];
}

interface Step {
  node: RecordedNode;
  /** The function that the operation is given. */
  body?: Body | undefined;
  /** Values that no later operation uses. */
  ends: readonly number[];
}

interface Body {
  parameters: readonly number[];
  steps: readonly Step[];
  outputs: readonly number[];
}

type Values = Map<number, TorchTensor>;

export class PreparedProgram {
  readonly #steps: readonly Step[];
  readonly #outputs: Readonly<Record<string, number>>;
  /** The names of the inputs that the program uses. */
  readonly inputs: readonly string[];

  constructor({ nodes, outputs }: RecordedProgram) {
    // A checkpoint's function runs again at any time before the end.
    const lasting = new Set<number>();
    this.#steps = prepare(nodes, Object.values(outputs), lasting);
    this.#outputs = outputs;
    this.inputs = this.#steps.flatMap(({ node }) =>
      node.operation === 'input' ? [node.arguments[0] as string] : [],
    );
  }

  /** The caller owns the outputs, and may ask for gradients before it calls `end`, which frees everything else. */
  run(ops: TorchOps): { outputs: Record<string, TorchTensor>; end(): void } {
    const values: Values = new Map();
    execute(this.#steps, values, ops);
    const named = Object.entries(this.#outputs).map(([name, id]) => [name, values.get(id)!.keep()] as const);
    const end = () => {
      for (const value of values.values()) value.drop();
      ops.close();
    };
    return { outputs: Object.fromEntries(named), end };
  }
}

/** @param lasting Collects values that live until the end of the run. */
function prepare(nodes: readonly RecordedNode[], outputs: readonly number[], lasting: Set<number>): Step[] {
  const needed = new Set(outputs);
  const used = [...nodes].reverse().filter((node) => {
    if (!node.outputs.some((id) => needed.has(id))) return false;
    for (const id of idsIn(node)) needed.add(id);
    return true;
  });
  for (const node of used) {
    if (node.operation !== 'checkpoint') continue;
    for (const id of idsIn(node)) lasting.add(id);
  }
  // From the last operation to the first: what has not been seen yet ends here.
  const seen = new Set(outputs);
  const own = new Set(used.flatMap(({ outputs }) => outputs));
  const steps = used.map((node): Step => {
    const ids = [...new Set([...node.outputs, ...idsIn(node)])];
    const ends = ids.filter((id) => own.has(id) && !seen.has(id) && !lasting.has(id));
    for (const id of ids) seen.add(id);
    const { body } = node;
    return {
      node,
      ends,
      body: body && { ...body, steps: prepare(body.nodes, body.outputs, lasting) },
    };
  });
  return steps.reverse();
}

/** The values that a node reads, those of its function from outside included. */
function idsIn({ arguments: given, body }: RecordedNode): number[] {
  const ids: number[] = [];
  const visit = (argument: Argument) => {
    if (isValue(argument)) ids.push(argument.value);
    else if (typeof argument === 'object' && argument !== null)
      for (const each of Object.values(argument)) visit(each as Argument);
  };
  for (const each of given) visit(each);
  if (body) {
    const inside = new Set([...body.parameters, ...body.nodes.flatMap(({ outputs }) => outputs)]);
    ids.push(...[...body.outputs, ...body.nodes.flatMap(idsIn)].filter((id) => !inside.has(id)));
  }
  return ids;
}

function isValue(argument: Argument): argument is { value: number } {
  return typeof argument === 'object' && argument !== null && 'value' in argument;
}

function execute(steps: readonly Step[], values: Values, ops: TorchOps): void {
  for (const { node, body, ends } of steps) {
    const made = compute(node, body, values, ops);
    for (const [index, id] of node.outputs.entries()) values.set(id, made[index]!);
    for (const id of ends) {
      values.get(id)!.drop();
      values.delete(id);
    }
  }
}

function compute(node: RecordedNode, body: Body | undefined, values: Values, ops: TorchOps): TorchTensor[] {
  const { operation, arguments: given } = node;
  const [first, ...rest] = given.map((each) => resolve(each, values));
  if (operation === 'checkpoint')
    return ops.checkpoint(first as TorchTensor[], rest[0] as TorchTensor[], functionOf(body!, values, ops));
  if (operation === 'weightedSum') {
    const [trained, slopes] = rest as [TorchTensor[], (TorchTensor | null)[]];
    const compute = functionOf(body!, values, ops);
    const { sum, outputs } = ops.weightedSum(
      first as TorchTensor,
      trained,
      (x) => compute([x]),
      slopes.map((slope) => slope ?? undefined),
    );
    return [sum, ...outputs];
  }
  const call = ops[operation as 'neg'] as (...given: unknown[]) => TorchTensor | TorchTensor[];
  const made = call.call(ops, first, ...rest);
  // The caller owns the inputs.
  if (operation === 'input') (made as TorchTensor).keep();
  return Array.isArray(made) ? made : [made];
}

/** The function owns what it computes, and its caller what it returns. */
function functionOf(
  body: Body,
  outside: Values,
  ops: TorchOps,
): (xs: readonly TorchTensor[]) => TorchTensor[] {
  return (xs) => {
    const values: Values = new Map(outside);
    for (const [index, id] of body.parameters.entries()) values.set(id, xs[index]!);
    execute(body.steps, values, ops);
    const returned = new Set(body.outputs);
    const made = new Set(body.steps.flatMap(({ node }) => node.outputs));
    for (const [id, value] of values) if (made.has(id) && !returned.has(id)) value.drop();
    return body.outputs.map((id) => (made.has(id) ? values.get(id)! : values.get(id)!.keep()));
  };
}

function resolve(argument: Argument, values: Values): unknown {
  if (isValue(argument)) return values.get(argument.value);
  if (Array.isArray(argument)) return argument.map((each) => resolve(each, values));
  if (typeof argument === 'object' && argument !== null)
    return Object.fromEntries(
      Object.entries(argument).map(([name, each]) => [name, resolve(each as Argument, values)]),
    );
  return argument;
}
