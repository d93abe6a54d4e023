/** The bounds of a JSON value that a model or a tool wrote. They are checked before anything recurses into the value. */

export interface JsonBounds {
  /** Levels of arrays and objects inside each other. */
  depth: number;
  /** Characters of the value as JSON, escapes not counted. */
  characters: number;
}

/** Why a value is too large or too deep. */
export interface JsonMistake {
  /** JSON Pointer to the value: always the whole value. */
  path: '';
  expected: string;
  received: string;
}

/** The bounds of a call's arguments. */
export const argumentBounds: JsonBounds = { depth: 64, characters: 65_536 };

/**
 * What keeps `value` from being JSON within `bounds`; `undefined` if nothing does. A value that contains itself nests too
 * deeply. Takes time in proportion to the value, at most to `bounds.characters`.
 */
export function jsonMistake(value: unknown, bounds: JsonBounds): JsonMistake | undefined {
  const budget = { characters: bounds.characters };
  let found: Excess | undefined;
  try {
    found = excess(value, bounds.depth, budget);
  } catch {
    found = 'unreadable';
  }
  if (found === undefined) return undefined;
  return { path: '', ...descriptions[found](bounds) };
}

type Excess = 'deep' | 'long' | 'foreign' | 'unreadable';

const descriptions: Record<Excess, (bounds: JsonBounds) => Omit<JsonMistake, 'path'>> = {
  deep: ({ depth }) => ({
    expected: `at most ${depth} levels of arrays and objects`,
    received: `a value with more than ${depth} levels`,
  }),
  long: ({ characters }) => ({
    expected: `at most ${characters} characters of JSON`,
    received: `a value with more than ${characters} characters`,
  }),
  foreign: () => ({ expected: 'JSON', received: 'a value that JSON does not have' }),
  unreadable: () => ({ expected: 'JSON', received: 'a value that cannot be read' }),
};

/** The first excess in `value`. Spends the budget on each part, so that shared parts count each time they occur. */
function excess(value: unknown, depth: number, budget: { characters: number }): Excess | undefined {
  budget.characters -= typeof value === 'string' ? value.length + 2 : 1;
  if (budget.characters < 0) return 'long';
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return 'foreign';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === 0) return 'deep';
  // JSON.stringify would write each byte as a property.
  if (ArrayBuffer.isView(value)) return 'foreign';
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = excess(value[i], depth - 1, budget);
      if (found) return found;
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    budget.characters -= key.length + 3;
    const found = excess((value as Record<string, unknown>)[key], depth - 1, budget);
    if (found) return found;
  }
  return undefined;
}

/** The bounds of a tool's result (TOOL-5), and of what an environment adds to an observation or a trajectory (ENV-16). */
export const recordBounds: JsonBounds = { depth: 64, characters: 16 * 2 ** 20 };

/** The bounds of a list of calls, whose arguments and results lie a few levels below it. */
export const callsBounds: JsonBounds = { ...recordBounds, depth: recordBounds.depth + 4 };
