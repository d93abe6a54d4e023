/** A recorded program, sent as JSON and replayed, computes the same bits as the program, with its gradients. */
import { expect, test } from 'vitest';
import type { Ops, Program } from '../../src/runtime/ops.ts';
import {
  type Argument,
  type RecordedNode,
  type RecordedProgram,
  recordProgram,
} from '../../src/runtime/record-program.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { runtime } from '../tiny-model.ts';
import { opsCases } from './ops-cases.ts';
import { operationRun } from './runtime-agreement.ts';

const replaying: Runtime = {
  ...runtime,
  compile: (program, options) => {
    const sent = JSON.parse(JSON.stringify(recordProgram(program))) as RecordedProgram;
    return runtime.compile(replay(sent), options);
  },
};

test.each(opsCases.map((one) => [`${one.operation} ${one.title}`, one] as const))('%s', async (_, one) => {
  expect(await operationRun(replaying, one)).toEqual(await operationRun(runtime, one));
});

test('records equal inputs and scalars once, outside of functions', () => {
  const { nodes } = recordProgram((ops) => {
    const x = ops.input('x', 'float32', ['N']);
    const [y] = ops.checkpoint([x], [], ([inside]) => [
      ops.mul(ops.add(inside!, ops.scalar(2)), ops.input('x', 'float32', ['N'])),
    ]);
    return { y: ops.add(ops.mul(y!, ops.scalar(2)), ops.input('x', 'float32', ['N'])) };
  });
  expect(nodes.map(({ operation }) => operation)).toEqual(['input', 'scalar', 'checkpoint', 'mul', 'add']);
  expect(nodes[2]!.body!.nodes.map(({ operation }) => operation)).toEqual(['add', 'mul']);
});

function replay({ nodes, outputs }: RecordedProgram): Program {
  return <T>(ops: Ops<T>) => {
    const values = new Map<number, T>();
    play(nodes, values, ops);
    return Object.fromEntries(Object.entries(outputs).map(([name, id]) => [name, values.get(id)!]));
  };
}

function play<T>(nodes: readonly RecordedNode[], values: Map<number, T>, ops: Ops<T>): void {
  for (const { operation, arguments: given, outputs, body } of nodes) {
    const resolved = given.map((each) => resolve(each, values));
    if (body)
      resolved.splice(2, 0, (x: T | T[]) => {
        const inside = new Map(values);
        for (const [index, each] of [x].flat().entries()) inside.set(body.parameters[index]!, each as T);
        play(body.nodes, inside, ops);
        return body.outputs.map((id) => inside.get(id));
      });
    const slopes = resolved[3] as unknown[] | undefined;
    if (operation === 'weightedSum') resolved[3] = slopes!.map((slope) => slope ?? undefined);
    const made = (ops[operation] as (...given: unknown[]) => T | T[] | { sum: T; outputs: T[] })(...resolved);
    const all = operation === 'weightedSum' ? weightedSumOf(made as { sum: T; outputs: T[] }) : [made].flat();
    for (const [index, id] of outputs.entries()) values.set(id, all[index] as T);
  }
}

function weightedSumOf<T>({ sum, outputs }: { sum: T; outputs: T[] }): T[] {
  return [sum, ...outputs];
}

function resolve<T>(argument: Argument, values: ReadonlyMap<number, T>): unknown {
  if (Array.isArray(argument)) return argument.map((each) => resolve(each, values));
  if (typeof argument !== 'object' || argument === null) return argument;
  if ('value' in argument) return values.get(argument.value as number);
  return Object.fromEntries(
    Object.entries(argument).map(([name, each]) => [name, resolve(each as Argument, values)]),
  );
}
