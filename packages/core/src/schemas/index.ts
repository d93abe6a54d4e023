/** @toolenv/core/schemas: JSON Schema validation, and the schemas of everything that crosses a wire or is written to disk. */
export { didYouMean } from '../protocol/did-you-mean.ts';
export type { JsonSchema, SchemaMistake } from '../protocol/json-schema.ts';
export type {
  ArgumentsSchema,
  EnvOptions,
  GivenEnvOptions,
  ParsedArguments,
  SentArguments,
  ShortArguments,
} from './arguments-schema.ts';
export {
  argumentBounds,
  type JsonBounds,
  type JsonMistake,
  jsonMistake,
  recordBounds,
} from './json-bounds.ts';
export { resolvePointer } from './json-pointer.ts';
export { validate, validateWithDefaults } from './json-schema.ts';
export type { Flat, FromJsonSchema, OptionsOf } from './json-schema-type.ts';
export { isJson, isObject, tryJson, tryObject } from './json-text.ts';
export { type WireSchemaName, wireSchemas } from './wire-schemas.ts';
