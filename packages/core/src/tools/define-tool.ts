/** defineTool: one schema defines the type of `execute`'s argument, its validation, and what the model sees. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import { refuse, type Tool, type ToolContext, type ToolResult, text } from '../protocol/tool.ts';
import type {
  ArgumentsSchema,
  ParsedArguments,
  SentArguments,
  ShortArguments,
  Simplify,
} from '../schemas/json-schema-type.ts';
import { isStandardSchema, parse, toJsonSchema } from '../schemas/standard-schema.ts';
import { callTime } from './call-time.ts';

/** A tool as the author declares it. */
export interface ToolDefinition<Schema extends ArgumentsSchema, Args, Data>
  extends Omit<Tool<never, Data>, 'inputSchema' | 'execute'> {
  /** Schema of an object. The model sees it, and its arguments are validated against it. */
  readonly inputSchema: Schema;
  /** The JSON Schema of `inputSchema`, or a function that makes it. Required if the schema's library provides none. */
  readonly jsonSchema?: Schema extends StandardSchemaV1 ? JsonSchema | ((schema: Schema) => object) : never;
  /** As {@link Tool.execute}; a text is a result too. A property, not a method, so that TypeScript reports wrong argument types. */
  readonly execute: Execute<Args, Data>;
}

/** What a tool does with valid arguments. A text is the result with that text. */
export type Execute<Args, Data> = (
  args: Args,
  context: ToolContext,
) => ToolResult<Data> | string | Promise<ToolResult<Data> | string>;

/**
 * Declares a tool. The type of `execute`'s argument is inferred from `inputSchema`, which is a literal JSON Schema or a
 * Standard Schema. If the schema is not a literal, name the type: `defineTool<Args>({…})`.
 *
 * The short form has a literal JSON Schema for each argument. All arguments are required, and no others are allowed:
 * `defineTool('look_up', 'Tell the balance.', { account: { type: 'string' } }, ({ account }) => `${balances[account]}`)`.
 *
 * An environment validates arguments against the JSON Schema before `execute`. A Standard Schema then checks what JSON
 * Schema cannot express (refinements) and applies its defaults and transforms. A refusal is the model's mistake in both
 * cases.
 * @throws ToolEnvError `usage.json_schema` if the library provides no JSON Schema and `jsonSchema` is absent;
 *   `usage.tool_schema` if the schema does not describe an object; `usage.tool_parts` if its schema or `execute` is missing; `usage.tool_timeout` if `timeout` is not a number above 0.
 */
// `Args` is never inferred, or this overload would win over the one that infers from the schema.
export function defineTool<Args extends object = never, Data = unknown>(
  definition: ToolDefinition<JsonSchema, NoInfer<Args>, Data> & ([Args] extends [never] ? never : unknown),
): Tool<Simplify<NoInfer<Args>>, Data>;
export function defineTool<const Arguments extends Record<string, JsonSchema>, Data = unknown>(
  name: string,
  description: string,
  parameters: Arguments,
  execute: Execute<ShortArguments<Arguments>, Data>,
): Tool<ShortArguments<Arguments>, Data>;
export function defineTool<const Schema extends ArgumentsSchema, Data = unknown>(
  definition: ToolDefinition<Schema, ParsedArguments<Schema>, Data>,
): Tool<SentArguments<Schema>, Data>;
export function defineTool(
  ...given: [AnyDefinition] | [string, string, Record<string, JsonSchema>, Execute<never, unknown>]
): Tool<never> {
  const definition = given.length === 1 ? given[0] : fromShort(...given);
  expectToolParts(definition);
  const { inputSchema: schema, jsonSchema, ...rest } = definition;
  const owner = `Tool "${definition.name}"`;
  const inputSchema = isStandardSchema(schema) ? describe(schema, jsonSchema, owner) : schema;
  if ((inputSchema.type ?? 'object') !== 'object') {
    const message = `${owner}: its inputSchema is of type ${JSON.stringify(inputSchema.type)}: wrap it in an object.`;
    throw new ToolEnvError('usage.tool_schema', message);
  }
  callTime(definition, Number.POSITIVE_INFINITY);
  return {
    ...rest,
    inputSchema,
    async execute(args, context) {
      const parsed = isStandardSchema(schema) ? await parse(schema, args) : { value: args };
      if ('mistake' in parsed) return refuse(parsed.mistake);
      const result = await definition.execute(parsed.value as never, context);
      return typeof result === 'string' ? text(result) : result;
    },
  };
}

type AnyDefinition = ToolDefinition<ArgumentsSchema, never, unknown>;

/** What other APIs call them. */
const otherNames = {
  inputSchema: ['parameters', 'input_schema', 'schema'],
  execute: ['run', 'handler', 'call', 'func', 'invoke'],
};

function expectToolParts(definition: AnyDefinition): void {
  const { name, inputSchema, execute } = definition;
  const isSchema =
    typeof inputSchema === 'function' || (typeof inputSchema === 'object' && inputSchema !== null);
  const missing = !isSchema ? 'inputSchema' : typeof execute !== 'function' ? 'execute' : undefined;
  if (!missing) return;
  const other = otherNames[missing].find((part) => part in definition);
  const remedy = other
    ? `rename "${other}"`
    : missing === 'execute'
      ? 'give a function'
      : 'give the JSON Schema of its arguments';
  throw new ToolEnvError('usage.tool_parts', `Tool "${name}" has no "${missing}": ${remedy}.`);
}

function fromShort(
  name: string,
  description: string,
  properties: Record<string, JsonSchema>,
  execute: Execute<never, unknown>,
): AnyDefinition {
  const required = Object.keys(properties);
  const inputSchema = { type: 'object', properties, required, additionalProperties: false };
  return { name, description, inputSchema, execute };
}

function describe(
  schema: StandardSchemaV1,
  given: JsonSchema | ((schema: StandardSchemaV1) => object) | undefined,
  owner: string,
): JsonSchema {
  const described = typeof given === 'function' ? given(schema) : (given ?? toJsonSchema(schema, owner));
  const { $schema, ...rest } = described as JsonSchema;
  // The model need not see the name of the default dialect.
  return String($schema ?? '2020-12').includes('2020-12') ? rest : { $schema, ...rest };
}
