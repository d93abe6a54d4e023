/** Runs parts of the soak, each in a process of its own, and turns everything that goes wrong into failed checks. */
import { type ChildEnd, inChild } from './in-child.ts';
import { type Check, check, checkNone, type PartInput } from './part.ts';
import { moduleOf, type Part } from './parts.ts';

export interface PartReport {
  name: string;
  checks: Check[];
  seconds: number;
}

export interface SoakOptions {
  signal?: AbortSignal;
  say?: (line: string) => void;
  /** Milliseconds until the part counts as hung. Default: the part's own limit. */
  limit?: number;
  /** The module of the part. Default: its own. */
  module?: string;
}

/** @throws The reason of `signal` when it aborts. */
export async function runPart(
  part: Part,
  input: PartInput,
  { signal, say, ...given }: SoakOptions = {},
): Promise<PartReport> {
  const started = performance.now();
  const limit = given.limit ?? part.minutes[input.quick ? 'quick' : 'full'] * 60_000;
  const checks: Check[] = [];
  const report = (one: Check) => void checks.push(one);
  const end = await inChild(given.module ?? moduleOf(part), input, { limit, signal, say, report });
  checks.push(...checksOf(end));
  return { name: part.name, checks, seconds: (performance.now() - started) / 1000 };
}

/** Whether anything escaped, crashed or hung. */
export function checksOf(end: ChildEnd): Check[] {
  if (end.kind === 'hung')
    return [check('ends', false, `hangs: it did not end within ${end.limit / 1000} s`)];
  if (end.kind === 'died') return [check('survives', false, `the process died: ${end.how}\n${end.output}`)];
  const escapes = checkNone('no escapes', end.escapes, '0 escapes');
  return end.kind === 'threw' ? [check('ends', false, end.message), escapes] : [escapes];
}
