/** Describes where two JSON values differ. */

import { isSameButSecrets, redacted } from '../protocol/secrets.ts';
import { escapeKey } from '../schemas/json-pointer.ts';

/** A place (JSON Pointer) and both values there; `undefined` for a missing value. */
export interface Difference {
  path: string;
  recorded: unknown;
  now: unknown;
}

/** The differences of `now` from `recorded`. A redacted part of `recorded` matches anything. */
export function differences(recorded: unknown, now: unknown, path = ''): Difference[] {
  if (typeof recorded === 'string' && recorded.includes(redacted)) {
    return isSameButSecrets(recorded, now) ? [] : [{ path, recorded, now }];
  }
  if (!isContainer(recorded) || !isContainer(now) || Array.isArray(recorded) !== Array.isArray(now)) {
    return Object.is(recorded, now) ? [] : [{ path, recorded, now }];
  }
  const keys = new Set([...Object.keys(recorded), ...Object.keys(now)]);
  return [...keys].flatMap((key) => {
    return differences(own(recorded, key), own(now, key), `${path}/${escapeKey(key)}`);
  });
}

/** A line for each of the first five differences, with both values. */
export function describeDifferences(found: readonly Difference[]): string {
  const shown = found.slice(0, 5).map(({ path, recorded, now }) => {
    const [before, after] = excerpts(recorded, now);
    return `  ${path || 'all of it'}: recorded ${before}, now ${after}`;
  });
  return [...shown, ...(found.length > 5 ? [`  and ${found.length - 5} more`] : [])].join('\n');
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

const width = 80;

/** Both values as JSON. Long values are cut to the part around their first difference. */
function excerpts(recorded: unknown, now: unknown): [string, string] {
  const [a, b] = [write(recorded), write(now)];
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  const start = Math.max(0, same - width / 4);
  const excerpt = (text: string) => {
    const end = start + width;
    return `${start > 0 ? '…' : ''}${text.slice(start, end)}${text.length > end ? '…' : ''}`;
  };
  return [excerpt(a), excerpt(b)];
}

function write(value: unknown): string {
  try {
    return value === undefined ? 'nothing' : JSON.stringify(value);
  } catch {
    // JSON.parse reads what JSON.stringify has no stack for.
    return 'a value that nests too deeply';
  }
}
