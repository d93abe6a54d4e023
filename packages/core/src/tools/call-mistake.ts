/** callMistake: what is wrong with a call of the model, before anything runs it. */
import { isFrozenJson } from '../boundary/json-copies.ts';
import { isParseFailure, type ParseFailure } from '../protocol/action.ts';
import { didYouMean } from '../protocol/did-you-mean.ts';
import type { EnvLimits, ModelMistake } from '../protocol/env.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { SchemaMistake } from '../protocol/json-schema.ts';
import type { ToolCall, ToolDescription } from '../protocol/message.ts';
import { argumentBounds, jsonMistake } from '../schemas/json-bounds.ts';
import { validate } from '../schemas/json-schema.ts';

/** What checking a call needs of a tool. */
type Offered = Pick<ToolDescription, 'name' | 'inputSchema'>;

/**
 * `undefined` for a call that a tool may run.
 * @param index Of the call in its turn.
 * @param tools Those on offer.
 */
export function callMistake(
  call: ToolCall | ParseFailure,
  index: number,
  tools: readonly Offered[],
  { maxCallsPerTurn }: Pick<EnvLimits, 'maxCallsPerTurn'>,
): ModelMistake | undefined {
  if (isParseFailure(call)) return malformed(call);
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) return unknownTool(call, tools);
  if (index >= maxCallsPerTurn) {
    return {
      code: 'too_many_calls',
      path: '',
      expected: `at most ${maxCallsPerTurn} tool calls in one turn`,
      received: `call ${index + 1}`,
      hint: 'Call again next turn.',
    };
  }
  const unbounded = isFrozenJson(call.arguments, argumentBounds)
    ? undefined
    : jsonMistake(call.arguments, argumentBounds);
  if (unbounded) return invalidArguments(tool, unbounded);
  const wrong = validate(tool.inputSchema, call.arguments);
  if (wrong.length === 0) return undefined;
  // A misspelt name also causes a mistake about the missing name. Report the misspelling.
  return invalidArguments(tool, wrong.find(({ nearest }) => nearest !== undefined) ?? wrong[0]!);
}

/** The mistake in words, as the model reads it. */
export function mistakeText({ code, path, expected, received, hint }: ModelMistake): string {
  return `Error (${code})${path && ` at ${path}`}: expected ${expected}; received ${received}. ${hint}`;
}

function malformed({ text, parseFailure }: ParseFailure): ModelMistake {
  return {
    code: 'malformed_call',
    path: '',
    expected: 'a JSON object {"name": …, "arguments": {…}}',
    received: excerpt(text),
    hint: parseFailure,
  };
}

function unknownTool(call: ToolCall, tools: readonly Offered[]): ModelMistake {
  const names = tools.map(({ name }) => name);
  return {
    code: 'unknown_tool',
    path: '/name',
    expected: `one of ${JSON.stringify(names)}`,
    received: excerpt(call.name),
    hint: didYouMean(call.name, names, 'Available tools'),
  };
}

/** The mistake of arguments that the tool does not take. */
export function invalidArguments(tool: Offered, { nearest, ...wrong }: SchemaMistake): ModelMistake {
  const near = nearest === undefined ? '' : `Did you mean "${nearest}"? `;
  const hint = `${near}Arguments of "${tool.name}" follow ${JSON.stringify(tool.inputSchema)}.`;
  return { code: 'invalid_arguments', ...wrong, hint };
}
