/** @toolenv/core/schemas: JSON Schema validation, and the schemas of everything that crosses a wire or is written to disk. */
export { didYouMean, nearest } from '../protocol/did-you-mean.ts';
export type * from '../protocol/json-schema.ts';
export { contentText } from './content-text.ts';
export { withoutFilledNulls, withoutNulls } from './filled-nulls.ts';
export { argumentBounds, type JsonBounds, jsonMistake, recordBounds } from './json-bounds.ts';
export { pointerKeys, resolvePointer } from './json-pointer.ts';
export { leaveOutUnusable, validate, validateWithDefaults } from './json-schema.ts';
export type * from './json-schema-type.ts';
export {
  bigintsAs,
  exactJson,
  exactJsonText,
  integerMistake,
  isLongInteger,
  isObject,
  jsonWithDigits,
  tryJson,
  tryJsonWithDigits,
  tryObject,
  unsafeInteger,
} from './json-text.ts';
export { type WireSchemaName, wireSchemas } from './wire-schemas.ts';
