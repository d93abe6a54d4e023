/** The bounds of a JSON value that a model or a tool wrote. They are checked before anything recurses into the value. */
import { excerpt } from '../protocol/excerpt.ts';
import type { SchemaMistake } from '../protocol/json-schema.ts';

/** The largest depth and size of a JSON value. */
export interface JsonBounds {
  /** Levels of arrays and objects inside each other. */
  depth: number;
  /** Characters of the value as JSON, escapes not counted. */
  characters: number;
  /** Whether infinite numbers pass, which `JSON.parse` makes of 1e999, and bigints, which `exactJson` makes. For values whose numbers are checked one by one. */
  anyNumber?: boolean;
}

/** The bounds of a call's arguments. */
export const argumentBounds: JsonBounds = { depth: 64, characters: 65_536 };

/**
 * What keeps `value` as a whole from being JSON within `bounds`; `undefined` if nothing does. A value that contains itself nests
 * too deeply. Takes time in proportion to the value, at most to `bounds.characters`.
 */
export function jsonMistake(value: unknown, bounds: JsonBounds): SchemaMistake | undefined {
  try {
    return excess(value, bounds.depth, { left: bounds.characters, bounds });
  } catch {
    return { path: '', expected: 'JSON', received: 'a value that cannot be read' };
  }
}

/** The first excess in `value`. Spends the budget on each part, so that shared parts count each time they occur. */
function excess(
  value: unknown,
  depth: number,
  budget: { left: number; bounds: JsonBounds },
): SchemaMistake | undefined {
  budget.left -= typeof value === 'string' ? value.length + 2 : 1;
  if (budget.left < 0) return tooMuch(budget.bounds.characters, 'characters', 'JSON');
  if (typeof value === 'bigint' && budget.bounds.anyNumber) return undefined;
  if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value))) return beyondNumbers(value);
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return foreign;
  if (typeof value === 'number' && !Number.isFinite(value) && !budget.bounds.anyNumber) return foreign;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === 0) return tooMuch(budget.bounds.depth, 'levels', 'arrays and objects');
  // JSON.stringify would write each byte as a property.
  if (ArrayBuffer.isView(value)) return foreign;
  if (Array.isArray(value)) {
    // Its commas, and at least one character for each item, before millions of them are looked at.
    budget.left -= value.length;
    if (budget.left < value.length) return tooMuch(budget.bounds.characters, 'characters', 'JSON');
    for (let i = 0; i < value.length; i++) {
      const found = excess(value[i], depth - 1, budget);
      if (found) return found;
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    budget.left -= key.length + 3;
    const found = excess((value as Record<string, unknown>)[key], depth - 1, budget);
    if (found) return found;
  }
  return undefined;
}

const foreign: SchemaMistake = { path: '', expected: 'JSON', received: 'a value that JSON does not have' };

/** An integer of JSON that a number would round, as `exactJson` gives it. */
function beyondNumbers(integer: bigint): SchemaMistake {
  const most = Number.MAX_SAFE_INTEGER;
  return {
    path: '',
    expected: `integers within ±${most}, with larger ones as strings`,
    received: `the integer ${excerpt(String(integer))}`,
  };
}

function tooMuch(most: number, unit: string, whole: string): SchemaMistake {
  return {
    path: '',
    expected: `at most ${most} ${unit} of ${whole}`,
    received: `a value with more than ${most} ${unit}`,
  };
}

/** The bounds of a tool's result (TOOL-5), and of what an environment adds to an observation or a trajectory (ENV-16). */
export const recordBounds: JsonBounds = { depth: 64, characters: 16 * 2 ** 20 };

/** The bounds of a list of calls, whose arguments and results lie a few levels below it. */
export const callsBounds: JsonBounds = { ...recordBounds, depth: recordBounds.depth + 4 };
