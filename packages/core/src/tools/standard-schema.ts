/** Schemas of any library that speaks Standard Schema (https://standardschema.dev): as JSON Schema, and as a check. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';
import { type JsonSchema, mistakeAt, type SchemaMistake } from '../schemas/json-schema.ts';

export function isStandardSchema(schema: object): schema is StandardSchemaV1 {
  return '~standard' in schema;
}

/**
 * The JSON Schema of what `schema` accepts, as its library gives it (https://standardschema.dev/json-schema).
 * @param owner Names the schema's owner in errors.
 * @throws ToolEnvError `usage.json_schema` if the library gives none, or not for this schema.
 */
export function toJsonSchema(schema: StandardSchemaV1, owner: string): JsonSchema {
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchemaV1.Props &
    Partial<StandardJSONSchemaV1.Props>;
  const remedy = 'pass one as "jsonSchema", or a function that makes it from the schema';
  if (!jsonSchema) {
    const message = `${owner}: ${vendor} gives no JSON Schema by itself: ${remedy}.`;
    throw new ToolEnvError('usage.json_schema', message);
  }
  try {
    return jsonSchema.input({ target: 'draft-2020-12' });
  } catch (error) {
    const message = `${owner}: ${vendor} has no JSON Schema for this schema (${messageOf(error)}): ${remedy}.`;
    throw new ToolEnvError('usage.json_schema', message, { cause: error });
  }
}

/** What `schema` makes of `value` (defaults and transforms applied), or what is wrong with it first. */
export async function parse<Schema extends StandardSchemaV1>(
  schema: Schema,
  value: unknown,
): Promise<{ value: StandardSchemaV1.InferOutput<Schema> } | { mistake: SchemaMistake }> {
  const result = await schema['~standard'].validate(value);
  if (!result.issues) return { value: result.value };
  const { message = 'a valid value', path = [] } = result.issues[0] ?? {};
  const keys = Array.from(path, (segment) => (typeof segment === 'object' ? segment.key : segment));
  return { mistake: mistakeAt(value, keys.map(String), message) };
}
