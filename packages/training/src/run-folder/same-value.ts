/** isSameValue: whether two values of an option are the same, but for the spelling of a path and for secrets that are not kept. */
import { realpathSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isSameButSecrets } from '@toolenv/core/secrets';

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
