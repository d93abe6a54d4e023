/** ArgumentsSchema: the schemas that tools and environments declare, and the types of the values that follow them. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Flat, FromJsonSchema, OptionsOf } from './json-schema-type.ts';

/** A JSON Schema (2020-12), or a schema of zod, valibot, arktype or another library that implements Standard Schema. */
export type ArgumentsSchema = JsonSchema | StandardSchemaV1;

/** The arguments of `Tool.execute`, as the model sends them. */
export type SentArguments<Schema> = Schema extends StandardSchemaV1
  ? Flat<StandardSchemaV1.InferInput<Schema>>
  : FromSchema<Schema>;

/** The arguments of the author's `execute`, after the schema's defaults and transforms. */
export type ParsedArguments<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : FromSchema<Schema>;

type FromSchema<Schema> =
  FromJsonSchema<Schema> extends infer Args extends object ? Args : Record<string, unknown>;

/** The arguments that the schemas of the short form describe. */
export type ShortArguments<Arguments> = Flat<{
  -readonly [Name in keyof Arguments]: FromJsonSchema<Arguments[Name]>;
}>;

/** The options that an environment's own code sees: complete, after the schema's defaults and transforms. */
export type EnvOptions<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : OptionsOf<Schema>;

/** The options as `openEnv` takes them. */
export type GivenEnvOptions<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Schema>
  : OptionsOf<Schema>;
