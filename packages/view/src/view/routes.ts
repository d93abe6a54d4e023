/** The answers of the page's server: what is asked for, as JSON. */
import { type EnvDefinition, ToolEnvError } from '@toolenv/core';
import type { TokenReport } from '@toolenv/core/plugins';
import type { MetricsLine } from '@toolenv/training';
import type { RunOverview } from '../overview/run-overview.ts';
import type { WrittenTurn } from '../play/play-by-hand.ts';
import { solutionOf } from '../play/solution.ts';
import { containsText } from '../recorded/episode-filter.ts';
import type { RecordedEpisode } from '../recorded/recorded-episode.ts';
import { type Verdict, verdictOf } from '../recorded/verdict.ts';
import { comparedScore, compareScores, type ScoreComparison } from '../scores/compare-scores.ts';
import { compareTasks, type TaskComparison } from '../tasks/compare-tasks.ts';
import { type ScoredTasks, scoredTasks } from '../tasks/scored-tasks.ts';
import { type TaskMap, taskMap } from '../tasks/task-map.ts';
import { chooseRows, type EpisodeQuery } from './episode-choice.ts';
import type { EpisodeIndex, EpisodeRow, Facets } from './episode-index.ts';
import { type EpisodeTexts, type TokenTexts, textsOf } from './token-texts.ts';
import type { RunHead, ViewedRun } from './viewed-run.ts';
import type { ViewedRuns } from './viewed-runs.ts';

/** How the task of an episode is won, as far as its environment says it. */
export interface Solution {
  /** The right answer. */
  answer?: string;
  /** The turns that win; none if nothing knows them. */
  turns: WrittenTurn[];
}

/** What a page needs besides the files of its runs. */
export interface RouteParts {
  /** Of the run at a path. */
  tokenTexts(path: string): Promise<TokenTexts>;
  /** The environment with a reference; `undefined` if it is not installed. */
  environment(ref: string): Promise<KnownEnv | undefined>;
  /** HTML of the report of some runs, which opens at a place. A report has none of its own. */
  report?(runs: readonly ViewedRun[], start: string | undefined): Promise<string>;
}

/** What a page uses of an environment. */
export type KnownEnv = Pick<EnvDefinition, 'oracle' | 'label'>;

/** What each path answers. The page imports this type. */
export interface Answers {
  '/api/runs': RunHead[];
  /** Of each run that was asked for, by name; of all without a name. */
  '/api/overviews': Record<string, RunOverview>;
  /** `lines`: those from the line `from` on. */
  '/api/metrics': { lines: MetricsLine[]; next: number };
  '/api/episodes': {
    /** Episodes that match. */
    total: number;
    /** Episodes of the run that have been read. */
    of: number;
    /** Those from `from` on, at most `count`. */
    rows: EpisodeRow[];
    facets: Facets | undefined;
  };
  /** How each task of a training run went over its steps. */
  '/api/tasks': TaskMap;
  /** The tasks of the evaluation `run`, and how the evaluation `with` did on them. */
  '/api/compared': TaskComparison;
  /** The scores of the evaluation `run` by task, the lowest first. */
  '/api/task-scores': ScoredTasks;
  /** The scores of `runs` beside each other. */
  '/api/scores': ScoreComparison;
  /** Of some runs, or of all. */
  '/api/report': { html: string };
  '/api/episode': {
    row: EpisodeRow;
    episode: RecordedEpisode;
    texts: EpisodeTexts;
    /** What an update said of the tokens, by turn. */
    learned: TokenReport['turns'];
    verdict: Verdict;
    /** Absent if the environment of the episode is not known. */
    solution?: Solution;
  };
}

export type Path = keyof Answers;
export type Routes = {
  [P in Path]: (query: URLSearchParams, signal: AbortSignal) => Promise<Answers[P]>;
};

/** Most rows of one answer. */
const maxRows = 1_000;

export function routesOf(runs: ViewedRuns, { tokenTexts, environment, report }: RouteParts): Routes {
  return {
    '/api/runs': () => Promise.all(runs.all.map((run) => run.head())),

    async '/api/overviews'(query) {
      const name = query.get('run');
      const asked = name === null ? runs.all : [runs.find(name)];
      return Object.fromEntries(
        await Promise.all(asked.map(async (run) => [run.name, await run.overview()])),
      );
    },

    async '/api/metrics'(query) {
      const { metrics } = runs.find(query.get('run'));
      return { lines: metrics.slice(numberOf(query, 'from')), next: metrics.length };
    },

    async '/api/episodes'(query, signal) {
      const { episodes } = runs.find(query.get('run'));
      if (!episodes) return { total: 0, of: 0, rows: [], facets: undefined };
      const { run, from, count, ...conditions } = Object.fromEntries(query);
      const numbers = await listEpisodes(episodes, conditions as EpisodeQuery, signal);
      const first = numberOf(query, 'from');
      const shown = numbers.slice(first, first + Math.min(numberOf(query, 'count', 100), maxRows));
      const rows = shown.map((number) => episodes.rows[number]!);
      return { total: numbers.length, of: episodes.rows.length, rows, facets: episodes.facets };
    },

    async '/api/tasks'(query) {
      const { episodes } = runs.find(query.get('run'));
      const { sort, kind } = Object.fromEntries(query);
      const count = Math.min(numberOf(query, 'count', 100), maxRows);
      return taskMap(episodes?.rows ?? [], { sort, kind, count });
    },

    async '/api/compared'(query) {
      const [run, other] = ['run', 'with'].map((name) => runs.find(query.get(name)));
      const { scores } = await run!.overview();
      return compareTasks(run!.episodes?.rows ?? [], other!.episodes?.rows ?? [], comparedScore(scores));
    },

    async '/api/task-scores'(query) {
      const run = runs.find(query.get('run'));
      const { scores } = await run.overview();
      return scoredTasks(run.episodes?.rows ?? [], comparedScore(scores));
    },

    async '/api/scores'(query) {
      const found = namesOf(query).map((name) => runs.find(name));
      return compareScores(
        await Promise.all(
          found.map(async (run) => ({
            head: await run.head(),
            overview: await run.overview(),
            rows: run.episodes?.rows ?? [],
          })),
        ),
      );
    },

    async '/api/report'(query) {
      const names = namesOf(query);
      const chosen = names.length > 0 ? names.map((name) => runs.find(name)) : runs.all;
      return { html: (await report?.(chosen, query.get('start') ?? undefined)) ?? '' };
    },

    async '/api/episode'(query) {
      const { name, path, episodes, tokens } = runs.find(query.get('run'));
      const row = episodes?.rows[numberOf(query, 'number')];
      if (!row) {
        const message = `${name} has no episode ${query.get('number')}.`;
        throw new ToolEnvError('usage.no_episode', message);
      }
      const episode: RecordedEpisode = JSON.parse(await episodes.line(row.number));
      const learned = (await tokens?.turnsOf(row)) ?? [];
      const known = await environment(episode.env);
      return {
        row,
        episode,
        texts: textsOf(episode, await tokenTexts(path)),
        learned,
        verdict: verdictOf(episode),
        ...(known && { solution: await solutionIn(known, episode) }),
      };
    },
  };
}

function namesOf(query: URLSearchParams): string[] {
  return (query.get('runs') ?? '').split(',').filter(Boolean);
}

/** The task comes from a file: the environment may not know what to do with it. */
async function solutionIn({ oracle, label }: KnownEnv, episode: RecordedEpisode): Promise<Solution> {
  try {
    const turns = await solutionOf(oracle, episode);
    const answer = label?.(episode.task) ?? (turns.at(-1)?.text || undefined);
    return { turns, ...(answer !== undefined && { answer }) };
  } catch {
    return { turns: [] };
  }
}

/** @throws ToolEnvError `usage.bad_query` if it is not a whole number from 0. */
function numberOf(query: URLSearchParams, name: string, initial = 0): number {
  const text = query.get(name);
  if (text === null) return initial;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ToolEnvError('usage.bad_query', `${name}=${text}: give a whole number from 0.`);
}

/**
 * The numbers of the episodes.
 * @throws ToolEnvError `usage.bad_flag` for a condition that cannot be read; the signal's reason.
 */
async function listEpisodes(
  index: EpisodeIndex,
  query: EpisodeQuery,
  signal: AbortSignal,
): Promise<number[]> {
  const numbers = chooseRows(index.rows, query).map(({ number }) => number);
  const { text } = query;
  if (text === undefined || text === '') return numbers;
  // The file is read in its own order.
  const found = new Set(
    await withText(
      index,
      [...numbers].sort((a, b) => a - b),
      text,
      signal,
    ),
  );
  return numbers.filter((number) => found.has(number));
}

async function withText(
  index: EpisodeIndex,
  numbers: readonly number[],
  words: string,
  signal: AbortSignal,
): Promise<number[]> {
  const written = JSON.stringify(words).slice(1, -1).toLowerCase();
  const found: number[] = [];
  for await (const { number, text } of index.lines(numbers)) {
    signal.throwIfAborted();
    // Most lines are ruled out without being parsed. A line may write a character as \u and four digits.
    if (!text.includes('\\u') && !text.toLowerCase().includes(written)) continue;
    if (containsText(JSON.parse(text) as RecordedEpisode, words)) found.push(number);
  }
  return found;
}
