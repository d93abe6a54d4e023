/** What differs between two versions of a run's config.json, by dotted names such as `trainerOptions.learningRate`. */
import { realpathSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isSameButSecrets, jsonWithoutSecrets } from '@toolenv/core/secrets';

/** Old and new value, in JSON. An absent value was or is not set. */
export interface Change {
  from?: unknown;
  to?: unknown;
}

export type Changes = Record<string, Change>;

/** The values of a config.json by dotted names, one level deep, without secrets: `{ a: { b: 1 } }` → `{ 'a.b': 1 }`. */
export type Values = Readonly<Record<string, unknown>>;

export function valuesOf(config: Readonly<Record<string, unknown>>): Values {
  const json: Record<string, unknown> = JSON.parse(jsonWithoutSecrets(config));
  const parts = Object.entries(json).flatMap(([name, value]) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value] as const];
    return Object.entries(value).map(([key, inner]) => [`${name}.${key}`, inner] as const);
  });
  return Object.fromEntries(parts);
}

/** Sorted by name. Another spelling of a path is no difference. */
export function differences(before: Values, now: Values): Changes {
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  const changed = [...names].sort().filter((name) => !isSameValue(before[name], now[name]));
  return Object.fromEntries(changed.map((name) => [name, { from: before[name], to: now[name] }]));
}

/** The values before the changes were made. */
export function undo(values: Values, changes: Changes): Values {
  const before = { ...values };
  for (const [name, { from }] of Object.entries(changes)) {
    if (from === undefined) delete before[name];
    else before[name] = from;
  }
  return before;
}

/** `seed 1 → 2, trainerOptions.delta not set → 3`. */
export function changesText(changes: Changes): string {
  const text = (value: unknown) => (value === undefined ? 'not set' : JSON.stringify(value));
  return Object.entries(changes)
    .map(([name, { from, to }]) => `${name} ${text(from)} → ${text(to)}`)
    .join(', ');
}

/**
 * Values are JSON.
 * @param one As it was kept, without its secrets.
 */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (isDeepStrictEqual(one, other)) return true;
  if (typeof one === 'string' && typeof other === 'string')
    return isSameButSecrets(one, other) || placeOf(one) === placeOf(other);
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const [left, right] = [Object.entries(one), Object.entries(other)];
  if (Array.isArray(one) !== Array.isArray(other) || left.length !== right.length) return false;
  const parts = other as Record<string, unknown>;
  return left.every(([name, part]) => Object.hasOwn(parts, name) && isSameValue(part, parts[name]));
}

/** The absolute path of a file or a folder without symbolic links; of a text that names none, the text itself. */
export function placeOf(text: string): string {
  // An empty path would be the working folder.
  if (text === '') return text;
  try {
    return realpathSync(text);
  } catch {
    return text;
  }
}
