/** Converts Standard Schemas (https://standardschema.dev) to JSON Schema, and validates values with them. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { JsonSchema, SchemaMistake } from '../protocol/json-schema.ts';
import { mistakeAt } from './json-schema.ts';

export function isStandardSchema(schema: object): schema is StandardSchemaV1 {
  return '~standard' in schema;
}

/**
 * The JSON Schema of what `schema` accepts, from its library (https://standardschema.dev/json-schema).
 * @param owner Names the schema's owner in errors.
 * @throws ToolEnvError `usage.json_schema` if the library provides none, or none for this schema.
 */
export function toJsonSchema(schema: StandardSchemaV1, owner: string): JsonSchema {
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchemaV1.Props &
    Partial<StandardJSONSchemaV1.Props>;
  const remedy = 'pass a JSON Schema, or a function that makes it from the schema, as "jsonSchema"';
  if (!jsonSchema) {
    const message = `${owner}: ${vendor} provides no JSON Schema: ${remedy}.`;
    throw new ToolEnvError('usage.json_schema', message);
  }
  try {
    return jsonSchema.input({ target: 'draft-2020-12' });
  } catch (error) {
    const message = `${owner}: ${vendor} cannot express this schema as JSON Schema (${messageOf(error)}): ${remedy}.`;
    throw new ToolEnvError('usage.json_schema', message, { cause: error });
  }
}

/** The parsed `value`, with defaults and transforms applied, or its first mistake. */
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
