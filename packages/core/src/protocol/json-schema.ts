/** JSON Schemas, and the mistakes that they find in values. */

/** A JSON Schema, 2020-12. */
export type JsonSchema = { [keyword: string]: unknown };

/** One mistake in a value: its place (JSON Pointer), what was expected and what was received. */
export interface SchemaMistake {
  path: string;
  expected: string;
  received: string;
  /** The most similar valid name or value. */
  nearest?: string;
}
