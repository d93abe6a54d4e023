/** JSON Schema 2020-12 validation of what models write, with mistakes that a model can act on. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv } from 'ajv/dist/ajv.js';
import { nearest } from '../protocol/did-you-mean.ts';

/** A JSON Schema, 2020-12. */
export type JsonSchema = { [keyword: string]: unknown };

/** One thing wrong with a value: where (JSON Pointer), what was expected, what came. */
export interface SchemaMistake {
  path: string;
  expected: string;
  received: string;
  /** The valid name or value that was most likely meant. */
  nearest?: string;
}

/** The mistake of what lies at `keys` in `root`. */
export function mistakeAt(root: unknown, keys: readonly string[], expected: string): SchemaMistake {
  const path = keys.map((key) => `/${escapePointer(key)}`).join('');
  return { path, expected, received: describe(at(root, path)) };
}

// Formats are annotations in 2020-12 (Validation §7.2.1), and ajv without them would write a warning for each.
// Verbose errors carry the schema that they come from, whose names are what a model may have meant.
const settings = { allErrors: true, strict: false, validateFormats: false, verbose: true } as const;
const ajv = new Ajv2020(settings);
/** Many MCP servers still publish draft-07 schemas, and say so. */
const draft07 = new Ajv(settings);
const filling = new Ajv2020({ ...settings, useDefaults: true });

const compiled = new WeakMap<JsonSchema, ValidateFunction>();

/** Every way in which `value` breaks `schema`; empty if it conforms. Schemas are compiled once. */
export function validate(schema: JsonSchema, value: unknown): SchemaMistake[] {
  let check = compiled.get(schema);
  if (!check) {
    check = compile(String(schema.$schema ?? '').includes('draft-07') ? draft07 : ajv, schema);
    compiled.set(schema, check);
  }
  return mistakes(check, value);
}

/** Writes the schema's defaults into `value` where it lacks them, then validates it as {@link validate} does. */
export function validateWithDefaults(schema: JsonSchema, value: Record<string, unknown>): SchemaMistake[] {
  return mistakes(compile(filling, schema), value);
}

function compile(validator: Ajv | Ajv2020, schema: JsonSchema): ValidateFunction {
  const check = validator.compile(schema);
  // Else ajv keeps every schema it ever saw, and a second one of the same $id would throw.
  validator.removeSchema(schema);
  return check;
}

function mistakes(check: ValidateFunction, value: unknown): SchemaMistake[] {
  if (check(value)) return [];
  return (check.errors ?? []).map((error) => toMistake(error, value));
}

function toMistake(
  { instancePath, keyword, message, params, parentSchema }: ErrorObject,
  root: unknown,
): SchemaMistake {
  const property = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  const path = property === undefined ? instancePath : `${instancePath}/${escapePointer(String(property))}`;
  const allowed: unknown = params.allowedValues ?? params.allowedValue;
  const received = at(root, path);
  const near =
    keyword === 'enum'
      ? nearestOf(received, allowed)
      : keyword === 'additionalProperties' &&
        nearestOf(property, Object.keys(parentSchema?.properties ?? {}));
  return {
    path,
    expected: `${message ?? keyword}${allowed === undefined ? '' : `: ${JSON.stringify(allowed)}`}`,
    received: describe(received),
    ...(near && { nearest: near }),
  };
}

function nearestOf(value: unknown, choices: unknown): string | undefined {
  if (typeof value !== 'string' || !Array.isArray(choices)) return undefined;
  return nearest(
    value,
    choices.filter((choice) => typeof choice === 'string'),
  );
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function at(root: unknown, pointer: string): unknown {
  let value = root;
  for (const key of pointer.split('/').slice(1)) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    const owned = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    value = owned ? (value as Record<string, unknown>)[name] : undefined;
  }
  return value;
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  const json = JSON.stringify(value) ?? typeof value;
  return json.length > 80 ? `${json.slice(0, 77)}…` : json;
}
