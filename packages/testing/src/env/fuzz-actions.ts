/** Actions as a model might write them: right calls, wrong calls, no calls, and excessive text. */
import type { Action, ParseFailure, ToolCall, ToolDescription } from '@toolenv/core';
import fc, { type Arbitrary } from 'fast-check';
import { anyCharacter, brokenArguments, schemaValues } from '../schema-values.ts';

/** The empty name, names that every object inherits, and names that look like attacks. */
const trickyNames = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../../etc/passwd',
  '$(id)',
];

/** A turn with calls, a turn without, and a turn that the length limit cut off. */
export type FuzzKind = 'calls' | 'answer' | 'cut off';

export interface FuzzOptions {
  /** Largest number of calls in a turn. */
  maxCalls: number;
  /** Largest number of characters in a huge text. Default 100,000. */
  huge?: number;
  /** Default: all. */
  kinds?: readonly FuzzKind[];
}

/** Actions for the offered tools. About one in fifteen is cut off by the length limit. */
export function fuzzActions(tools: readonly ToolDescription[], options: FuzzOptions): Arbitrary<Action> {
  const { maxCalls, huge = 100_000, kinds = ['calls', 'answer', 'cut off'] } = options;
  const text = texts(huge);
  const calls = fc
    .array(fuzzCall(tools, text), { minLength: 1, maxLength: maxCalls })
    .map((all) => all.map(numbered));
  const withCalls = (stopReason: Action['stopReason']): Arbitrary<Action> =>
    fc.tuple(text, calls).map(([said, toolCalls]) => ({ text: said, toolCalls, stopReason }));
  const ofKind: Record<FuzzKind, { weight: number; arbitrary: Arbitrary<Action> }> = {
    calls: { weight: 8, arbitrary: withCalls('tool_call') },
    answer: { weight: 6, arbitrary: text.map((said) => ({ text: said, toolCalls: [], stopReason: 'stop' })) },
    'cut off': { weight: 1, arbitrary: withCalls('length') },
  };
  return fc.oneof(...kinds.map((kind) => ofKind[kind]));
}

/** Calls whose arguments are generated from the schemas of the tools. */
export function validCalls(tools: readonly ToolDescription[]): Arbitrary<Action> {
  return fc
    .constantFrom(...tools)
    .chain(({ name, inputSchema }) => schemaValues(inputSchema).map((args) => ({ name, arguments: args })))
    .map((call) => ({
      text: '',
      toolCalls: [{ id: 'call-0', ...call } as ToolCall],
      stopReason: 'tool_call',
    }));
}

/** One of {@link validCalls}, always the same for the same tools and seed. */
export function randomCall(tools: readonly ToolDescription[], seed: number): Action {
  return fc.sample(validCalls(tools), { seed, numRuns: 1 })[0]!;
}

type Unnumbered = Omit<ToolCall, 'id'> | ParseFailure;

function fuzzCall(tools: readonly ToolDescription[], text: Arbitrary<string>): Arbitrary<Unnumbered> {
  const malformed = fc.record({ parseFailure: fc.constantFrom('not JSON', 'no "name"'), text });
  const unknown = fc.record({
    name: fc.oneof(text, fc.constantFrom(...trickyNames, ...tools.map(({ name }) => `${name}s`))),
    arguments: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }) as Arbitrary<unknown>, {
      maxKeys: 3,
    }),
  });
  const written = text.map((said) => ({ query: said, text: said }));
  const known = tools.flatMap(({ name, inputSchema }) => [
    { weight: 6, arbitrary: named(name, schemaValues(inputSchema)) },
    { weight: 3, arbitrary: named(name, brokenArguments(inputSchema)) },
    { weight: 1, arbitrary: named(name, written) },
  ]);
  return fc.oneof<{ weight: number; arbitrary: Arbitrary<Unnumbered> }[]>(
    { weight: 2, arbitrary: malformed },
    { weight: 2, arbitrary: unknown },
    ...known,
  );
}

function named(name: string, values: Arbitrary<unknown>): Arbitrary<Omit<ToolCall, 'id'>> {
  return values.map((args) => ({ name, arguments: args as Record<string, unknown> }));
}

function texts(huge: number): Arbitrary<string> {
  const repeated = fc
    .tuple(fc.string({ minLength: 1, maxLength: 4 }), fc.nat(huge))
    .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length));
  return fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
    { weight: 3, arbitrary: fc.lorem() },
    { weight: 2, arbitrary: fc.string({ unit: anyCharacter }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('', '<answer></answer>', '<tool_call>', '{"name":', '\u0000', '\ud800'),
    },
    { weight: 1, arbitrary: repeated },
  );
}

function numbered(call: Unnumbered, index: number): ToolCall | ParseFailure {
  return 'parseFailure' in call ? call : { id: `call-${index}`, ...call };
}
