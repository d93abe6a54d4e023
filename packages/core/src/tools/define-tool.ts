/** defineTool: one schema gives the type of `execute`'s argument, its validation, and what the model is told. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { ToolEnvError } from '../protocol/errors.ts';
import { refuse, type Tool, type ToolContext, type ToolResult } from '../protocol/tool.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Flat, FromJsonSchema } from '../schemas/json-schema-type.ts';
import { isStandardSchema, parse, toJsonSchema } from './standard-schema.ts';

/** A JSON Schema (2020-12), or a schema of zod, valibot, arktype or another library that speaks Standard Schema. */
export type ArgumentsSchema = JsonSchema | StandardSchemaV1;

/** What a model may send: the arguments of {@link Tool.execute}. */
export type SentArguments<Schema> = Schema extends StandardSchemaV1
  ? Flat<StandardSchemaV1.InferInput<Schema>>
  : FromSchema<Schema>;

/** What the author's `execute` gets: after the schema's defaults and transforms, if its library has such. */
export type ParsedArguments<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : FromSchema<Schema>;

type FromSchema<Schema> =
  FromJsonSchema<Schema> extends infer Args extends object ? Args : Record<string, unknown>;

/** A tool as its author writes it. */
export interface ToolDefinition<Schema extends ArgumentsSchema, Args, Data>
  extends Omit<Tool<never, Data>, 'inputSchema' | 'execute'> {
  /** Of an object. What the model is told, and what its arguments are held to. */
  readonly inputSchema: Schema;
  /** For a library that gives no JSON Schema by itself: the JSON Schema of `inputSchema`, or what makes it. */
  readonly jsonSchema?: Schema extends StandardSchemaV1 ? JsonSchema | ((schema: Schema) => object) : never;
  /** As {@link Tool.execute}; a property, so that a wrong argument type is an error. */
  readonly execute: (args: Args, context: ToolContext) => Promise<ToolResult<Data>>;
}

/**
 * Declares a tool. The type of `execute`'s argument comes from `inputSchema`, a literal of JSON Schema or a Standard
 * Schema; where it cannot (a schema that is no literal), name it: `defineTool<Args>({…})`.
 *
 * An environment validates arguments against the JSON Schema before `execute`. A Standard Schema then checks what JSON
 * Schema cannot say (refinements) and applies its defaults and transforms; what it refuses is the model's mistake too.
 * @throws ToolEnvError `usage.json_schema` for a library that gives no JSON Schema, without `jsonSchema`;
 *   `usage.tool_schema` for a schema that is not of an object.
 */
// `Args` is only ever named, never inferred: else this would take what the schema is there to type.
export function defineTool<Args extends object = never, Data = unknown>(
  definition: ToolDefinition<JsonSchema, NoInfer<Args>, Data> & ([Args] extends [never] ? never : unknown),
): Tool<Flat<NoInfer<Args>>, Data>;
export function defineTool<const Schema extends ArgumentsSchema, Data = unknown>(
  definition: ToolDefinition<Schema, ParsedArguments<Schema>, Data>,
): Tool<SentArguments<Schema>, Data>;
export function defineTool(definition: ToolDefinition<ArgumentsSchema, never, unknown>): Tool<never> {
  const { inputSchema: schema, jsonSchema, ...rest } = definition;
  const owner = `Tool "${definition.name}"`;
  const inputSchema = isStandardSchema(schema) ? describe(schema, jsonSchema, owner) : schema;
  if ((inputSchema.type ?? 'object') !== 'object') {
    const message = `${owner}: its inputSchema is of type ${JSON.stringify(inputSchema.type)}: wrap it in an object.`;
    throw new ToolEnvError('usage.tool_schema', message);
  }
  if (!isStandardSchema(schema)) return { ...rest, inputSchema };
  return {
    ...rest,
    inputSchema,
    async execute(args, context) {
      const parsed = await parse(schema, args);
      if ('mistake' in parsed) return refuse(parsed.mistake);
      return definition.execute(parsed.value as never, context);
    },
  };
}

function describe(
  schema: StandardSchemaV1,
  given: JsonSchema | ((schema: StandardSchemaV1) => object) | undefined,
  owner: string,
): JsonSchema {
  const described = typeof given === 'function' ? given(schema) : (given ?? toJsonSchema(schema, owner));
  const { $schema, ...rest } = described as JsonSchema;
  // The model need not read the name of the usual dialect.
  return String($schema ?? '2020-12').includes('2020-12') ? rest : { $schema, ...rest };
}
