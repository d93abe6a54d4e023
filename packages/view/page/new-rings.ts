/** newRings: what a run rings for: a new diagnosis, and its end. */
import type { RunOverview } from '../src/overview/run-overview.ts';
import { sentence } from './sentence.ts';

export interface Ring {
  /** Unique. */
  id: string;
  run: string;
  text: string;
}

export type Overviews = Readonly<Record<string, RunOverview>>;

/** What is new of the runs that were going on. */
export function newRings(before: Overviews, now: Overviews): Ring[] {
  return Object.entries(now).flatMap(([run, { status, diagnoses }]) => {
    const known = before[run];
    if (known?.status.kind !== 'running') return [];
    const had = new Set(known.diagnoses.map(({ name }) => name));
    const found = diagnoses.filter(({ name }) => !had.has(name));
    const hasEnded = status.kind !== 'running';
    return [
      ...found.map(({ name, fault }) => ({ id: `${run} ${name}`, run, text: sentence(fault) })),
      ...(hasEnded ? [{ id: `${run} ${status.kind}`, run, text: `It is ${status.kind}.` }] : []),
    ];
  });
}
