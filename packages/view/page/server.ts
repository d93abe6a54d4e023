/** Asks the server of the page, or the report that the page came with. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answers, Path } from '../src/view/routes.ts';
import type { RunState } from '../src/view/viewed-run.ts';
import { readVisible } from '../src/view/visible-text.ts';
import { answerFrom, report } from './report.ts';

export type States = Readonly<Record<string, RunState>>;
export type Query = Readonly<Record<string, string | number | undefined>>;

export async function ask<P extends Path>(
  path: P,
  query: Query = {},
  signal?: AbortSignal,
): Promise<Answers[P]> {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  if (report) return answerFrom(await report, path, Object.fromEntries(given));
  const response = await fetch(`${path}?${new URLSearchParams(given)}`, { signal });
  const answer = readVisible(await response.text()) as Answers[P] & { message: string };
  if (!response.ok) throw new Error(answer.message);
  return answer;
}

/** @throws Error What the server says is wrong. */
export async function post(path: string, body: object): Promise<void> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error((await response.json()).message);
}

export interface Asked<Answer> {
  /** The last answer; kept while the next is awaited. */
  answer?: Answer;
  /** Why there is no answer to the present question. */
  problem?: string;
}

/** Asks again when the query or `version` changes. @param isAsked Whether it asks at all: one answer may wait for another. */
export function useAnswer<P extends Path>(
  path: P,
  query: Query,
  version: unknown = '',
  isAsked = true,
): Asked<Answers[P]> {
  const [asked, setAsked] = useState<Asked<Answers[P]>>({});
  const question = `${path} ${JSON.stringify(query)}`;
  const present = useRef({ question: '', left: new AbortController(), last: 0, shown: 0 });
  useEffect(() => {
    if (!isAsked) return;
    if (present.current.question !== question) {
      present.current.left.abort();
      present.current = { question, left: new AbortController(), last: 0, shown: 0 };
    }
    // An answer to an older version is better than none while the newer is awaited.
    const at = present.current;
    const number = ++at.last;
    const show = (change: (before: Asked<Answers[P]>) => Asked<Answers[P]>) => {
      if (at.left.signal.aborted || number < at.shown) return;
      at.shown = number;
      setAsked(change);
    };
    ask(path, query, at.left.signal).then(
      (answer) => show(() => ({ answer })),
      (error: Error) => show((before) => ({ ...before, problem: error.message })),
    );
  }, [question, version, isAsked]);
  useEffect(() => () => present.current.left.abort(), []);
  return asked;
}

/** Counts up every so many milliseconds while `isOn`. */
export function useTicks(every: number, isOn: boolean): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setTicks((count) => count + 1), every);
    return () => clearInterval(timer);
  }, [every, isOn]);
  return ticks;
}

export interface Following {
  states: States;
  /** Whether the server answers. */
  isConnected: boolean;
}

/** How much of each run there is, as it grows. */
export function useStates(): Following {
  const [following, setFollowing] = useState<Following>({ states: {}, isConnected: true });
  useEffect(() => {
    if (report) {
      report.then(({ runs }) => {
        const states = Object.fromEntries(runs.map(({ head, state }) => [head.name, state]));
        setFollowing({ states, isConnected: true });
      });
      return;
    }
    const source = new EventSource('/api/events');
    source.onmessage = ({ data }) => setFollowing({ states: JSON.parse(data), isConnected: true });
    source.onerror = () => setFollowing(({ states }) => ({ states, isConnected: false }));
    return () => source.close();
  }, []);
  return following;
}
