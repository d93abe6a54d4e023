/** Violation: a rule of the spec that a third party has broken, and how. */
import { excerpt } from './excerpt.ts';

export interface Violation {
  /** The rule's id: `ENV-21`. */
  rule: string;
  /** How it was broken, and what keeps the rule: `reward "found" is "1": give a finite number`. */
  problem: string;
}

/** A value in a few words. Reads nothing inside the value, whose getters may throw. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(excerpt(value, 60));
  if (Array.isArray(value)) return 'an array';
  if (value === undefined) return 'missing';
  if (typeof value === 'object' && value !== null) return isPromise(value) ? awaitIt : 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

const awaitIt = 'a Promise: await it';

function isPromise(value: object): boolean {
  // A proxy may throw.
  try {
    return value instanceof Promise;
  } catch {
    return false;
  }
}
