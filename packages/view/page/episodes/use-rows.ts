/** The rows of a query, fetched in blocks as they come into sight. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { EpisodeRow } from '../../src/view/episode-index.ts';
import type { Answers } from '../../src/view/routes.ts';
import { ask, type Query } from '../server.ts';

export type List = Omit<Answers['/api/episodes'], 'rows'>;

export interface Rows {
  list?: List;
  problem?: string;
  /** Whether an answer to the present query is awaited. */
  isAsking: boolean;
  row(index: number): EpisodeRow | undefined;
}

const blockRows = 200;

/**
 * @param version Changes when the run has grown; rows are shown until newer ones have come.
 * @param sight The first and the last row in sight.
 */
export function useRows(query: Query, version: string, sight: readonly [first: number, last: number]): Rows {
  const key = JSON.stringify(query);
  const blocks = useRef({ key, versions: new Map<number, string>(), rows: new Map<number, EpisodeRow[]>() });
  if (blocks.current.key !== key) blocks.current = { key, versions: new Map(), rows: new Map() };
  const [answered, setAnswered] = useState<{ key: string; list: List }>();
  const [problem, setProblem] = useState<{ key: string; text: string }>();
  const [first, last] = sight.map((row) => Math.floor(Math.max(row, 0) / blockRows)) as [number, number];

  useEffect(() => {
    const left = new AbortController();
    const { versions, rows } = blocks.current;
    const fetchBlock = async (block: number) => {
      if (versions.get(block) === version) return;
      const from = block * blockRows;
      const answer = await ask('/api/episodes', { ...query, from, count: blockRows }, left.signal);
      versions.set(block, version);
      rows.set(block, answer.rows);
      setProblem(undefined);
      setAnswered({ key, list: answer });
    };
    const fetchAll = async () => {
      for (let block = first; block <= last; block++) await fetchBlock(block);
    };
    fetchAll().catch((error: Error) => {
      if (!left.signal.aborted) setProblem({ key, text: error.message });
    });
    return () => left.abort();
  }, [key, version, first, last]);

  const isAnswered = answered?.key === key;
  const isRefused = problem?.key === key;
  return {
    list: isAnswered ? answered.list : undefined,
    problem: isRefused ? problem.text : undefined,
    isAsking: !isAnswered && !isRefused,
    row: (index) => blocks.current.rows.get(Math.floor(index / blockRows))?.[index % blockRows],
  };
}
