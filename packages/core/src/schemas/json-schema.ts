/** Validates values against JSON Schema 2020-12, and describes mistakes so that a model can correct them. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv } from 'ajv/dist/ajv.js';
import { nearest } from '../protocol/did-you-mean.ts';
import { messageOf } from '../protocol/errors.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { JsonSchema, SchemaMistake } from '../protocol/json-schema.ts';
import { argumentBounds, jsonMistake } from './json-bounds.ts';
import { escapeKey, resolvePointer } from './json-pointer.ts';
import { exactJsonText } from './json-text.ts';
import { type LeftOut, usableSchema } from './usable-schema.ts';

/** The mistake for the value at `keys` in `root`. */
export function mistakeAt(root: unknown, keys: readonly string[], expected: string): SchemaMistake {
  const path = keys.map((key) => `/${escapeKey(key)}`).join('');
  return { path, expected, received: describe(resolvePointer(root, path)) };
}

type Validator = Ajv | Ajv2020;

// Formats are only annotations in 2020-12 (Validation §7.2.1), and ajv would warn about each one that it does not know.
// Verbose errors carry the parent schema, whose property names serve for "did you mean".
// Optimizing takes a third of the time of compiling, and saves less in the few validations of a command.
const settings = {
  allErrors: true,
  strict: false,
  validateFormats: false,
  verbose: true,
  code: { optimize: false },
} as const;
const ajv = new Ajv2020(settings);
/** For schemas that declare draft-07 or an older draft, as many MCP servers do. */
const draft07 = new Ajv(settings);
// `ajv` checks its schemas: compiling the meta-schema a second time would delay every command.
const filling = new Ajv2020({ ...settings, useDefaults: true, validateSchema: false });

const compiled = new WeakMap<JsonSchema, ValidateFunction>();
/** By the text of the schema: a tool that each episode makes anew, or a trainer that each run makes anew, has a new, equal schema. */
const compiledTexts = new Map<Validator, Map<string, ValidateFunction>>(
  [ajv, draft07, filling].map((validator) => [validator, new Map()]),
);
const maxTexts = 1000;

/** All mistakes of `value` against `schema`; empty if it conforms. Equal schemas are compiled once. */
export function validate(schema: JsonSchema, value: unknown): SchemaMistake[] {
  let check = compiled.get(schema);
  if (!check) {
    check = strictCheck(schema);
    compiled.set(schema, check);
  }
  return mistakes(check, value);
}

/** In any writing of the address of its draft: with `https`, or without the `#`. */
function strictCheck({ $schema, ...schema }: JsonSchema): ValidateFunction {
  return compileOnce(/draft-0[3467]/.test(String($schema)) ? draft07 : ajv, schema);
}

/** To compile a larger schema takes seconds and gigabytes. */
const compilable = { depth: 256, characters: 2 ** 18 };

/** What {@link leaveOutUnusable} made of a schema, by its text. */
const lenient = new Map<string, { check: ValidateFunction; leftOut: LeftOut[] }>();

/**
 * For a schema that others wrote, of any draft: from now on, {@link validate} leaves out the constraints of this object that it cannot
 * check, instead of throwing. The object stays as it is.
 * @returns The constraints that are left out.
 */
export function leaveOutUnusable(schema: JsonSchema): LeftOut[] {
  if (jsonMistake(schema, compilable)) {
    compiled.set(schema, compileOnce(ajv, {}));
    return [{ path: '', why: `it has more than ${compilable.characters} characters` }];
  }
  const text = JSON.stringify(schema);
  let known = lenient.get(text);
  if (!known) {
    known = lenientCheck(schema);
    if (lenient.size >= maxTexts) lenient.clear();
    lenient.set(text, known);
  }
  compiled.set(schema, known.check);
  return known.leftOut;
}

function lenientCheck(schema: JsonSchema): { check: ValidateFunction; leftOut: LeftOut[] } {
  try {
    // This draft has keywords that would be ignored.
    if (!String(schema.$schema).includes('2019-09')) return { check: strictCheck(schema), leftOut: [] };
  } catch {
    // Some constraint cannot be checked.
  }
  const { schema: usable, leftOut } = usableSchema(schema, whyNot);
  return { check: compile(ajv, usable), leftOut };
}

/** Why a schema does not compile. */
function whyNot(schema: JsonSchema): string | undefined {
  try {
    compile(ajv, schema);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Writes the schema's defaults into `value` where properties are missing, then validates it as {@link validate} does. */
export function validateWithDefaults(schema: JsonSchema, value: Record<string, unknown>): SchemaMistake[] {
  return mistakes(compileOnce(filling, schema), value);
}

function compileOnce(validator: Validator, schema: JsonSchema): ValidateFunction {
  const known = compiledTexts.get(validator)!;
  const text = JSON.stringify(schema);
  let check = known.get(text);
  if (!check) {
    check = compile(validator, schema);
    if (known.size >= maxTexts) known.clear();
    known.set(text, check);
  }
  return check;
}

function compile(validator: Validator, schema: JsonSchema): ValidateFunction {
  if (validator === filling) ajv.validateSchema(schema, true);
  try {
    return validator.compile(schema);
  } finally {
    // ajv keeps every schema, and throws for a second schema with the same $id.
    validator.removeSchema(schema);
  }
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
  const path = property === undefined ? instancePath : `${instancePath}/${escapeKey(String(property))}`;
  const allowed: unknown = params.allowedValues ?? params.allowedValue;
  const received = resolvePointer(root, path);
  const near =
    keyword === 'enum'
      ? nearestOf(received, allowed)
      : keyword === 'additionalProperties' &&
        nearestOf(property, Object.keys(parentSchema?.properties ?? {}));
  return {
    path,
    expected: `${boundOf(keyword, params) ?? message ?? keyword}${allowed === undefined ? '' : `: ${JSON.stringify(allowed)}`}`,
    received: describe(received),
    ...(near && { nearest: near }),
  };
}

/** What a length must be, by the keyword: `minLength` → `must have at least 1 character`. */
function boundOf(keyword: string, { limit }: { limit?: number }): string | undefined {
  const [, end, counted = ''] = /^(min|max)(Length|Items|Properties)$/.exec(keyword) ?? [];
  if (end === undefined || limit === undefined) return undefined;
  const [one, many] =
    counted === 'Length'
      ? ['character', 'characters']
      : counted === 'Items'
        ? ['item', 'items']
        : ['property', 'properties'];
  return `must have at ${end === 'min' ? 'least' : 'most'} ${limit} ${limit === 1 ? one : many}`;
}

function nearestOf(value: unknown, choices: unknown): string | undefined {
  if (typeof value !== 'string' || !Array.isArray(choices)) return undefined;
  return nearest(
    value,
    choices.filter((choice) => typeof choice === 'string'),
  );
}

/** JSON.stringify overflows the stack on a value that nests by thousands of levels. */
const printable = { depth: argumentBounds.depth, characters: Number.POSITIVE_INFINITY, anyNumber: true };

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  // JSON has no infinite numbers.
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const unreadable = jsonMistake(value, printable);
  return unreadable?.received ?? excerpt(exactJsonText(value) ?? typeof value);
}
