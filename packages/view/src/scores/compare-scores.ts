/** compareScores: the scores and the costs of several runs, and how far chance explains the differences from the first. */
import { messageOf } from '@toolenv/core/errors';
import { type Estimate, groupBy } from '@toolenv/training';
import { type Scored, scoreDifferences } from '@toolenv/training/runs';
import type { RunOverview } from '../overview/run-overview.ts';
import type { ScoreRow } from '../overview/score-rows.ts';
import { type KindScores, kindScores } from '../tasks/kind-scores.ts';
import { taskScores } from '../tasks/task-scores.ts';
import type { EpisodeRow } from '../view/episode-index.ts';
import type { RunHead } from '../view/viewed-run.ts';

/** What a run has cost: an evaluation for each episode, a training run in all. */
export const costNames = {
  tokens: 'generated tokens for each episode',
  turns: 'turns for each episode',
  calls: 'tool calls for each episode',
  seconds: 'seconds for each episode',
  dollars: 'dollars for each episode',
  minutes: 'minutes of training',
  trainingTokens: 'generated tokens of training',
} as const;
export type CostName = keyof typeof costNames;

export interface ComparedRun {
  name: string;
  scores: ScoreRow[];
  costs: Partial<Record<CostName, number>>;
  /** Episodes, and those that infrastructure faults ended. */
  episodes: number;
  aborted: number;
  /** Score → difference from the first run on common tasks. Absent for the first, for training runs, and if there is a problem. */
  differences?: Record<string, Estimate | null>;
  /** Why the tasks cannot be paired with those of the first. */
  problem?: string;
}

export interface ScoreComparison {
  /** The score that says which episodes were right. */
  score: string;
  runs: ComparedRun[];
  kinds: KindScores[];
}

/** What is known of a run. */
export interface ScoredRun {
  head: Pick<RunHead, 'name' | 'kind' | 'facts'>;
  overview: Pick<RunOverview, 'scores' | 'cost'>;
  rows: readonly EpisodeRow[];
}

/** The score that says which episodes were right; the reward of an evaluation that has not ended. */
export function comparedScore(scores: readonly ScoreRow[]): string {
  return scores[0]?.name ?? 'reward';
}

export function compareScores(runs: readonly ScoredRun[]): ScoreComparison {
  const score = comparedScore(runs[0]?.overview.scores ?? []);
  const evaluations = runs.map(({ head, rows }) => (head.kind === 'training' ? [] : rows));
  return {
    score,
    runs: runs.map((run, index) => ({
      name: run.head.name,
      scores: run.overview.scores,
      costs: costsOf(run),
      episodes: run.rows.length,
      aborted: run.rows.filter(isAborted).length,
      ...(index > 0 && differencesFrom(runs[0]!, run)),
    })),
    kinds: kindScores(evaluations.map((rows) => taskScores(rows, score))),
  };
}

function differencesFrom(first: ScoredRun, run: ScoredRun): Pick<ComparedRun, 'differences' | 'problem'> {
  if ([first, run].some(({ head }) => head.kind === 'training')) return {};
  const [baseline, evaluation] = [first, run].map(({ rows }): Scored => ({ tasks: evaluatedTasks(rows) }));
  const names = Object.keys(evaluation!.tasks[0]?.scores ?? {});
  const common = names.filter((name) => baseline!.tasks[0]?.scores[name] !== undefined);
  try {
    const { reward, means } = scoreDifferences(evaluation!, baseline!, common);
    return { differences: { reward, ...means } };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** As `toolenv eval` keeps them. */
function evaluatedTasks(rows: readonly EpisodeRow[]): Scored['tasks'] {
  const tasks = groupBy(
    [...rows].sort((a, b) => a.group - b.group || a.sample - b.sample),
    ({ group }) => group,
  );
  return [...tasks].map(([index, episodes]) => {
    const scored = episodes.filter((row) => !isAborted(row));
    const names = [...new Set(episodes.flatMap(({ rewards }) => Object.keys(rewards)))];
    const valuesOf = (name: string) => scored.flatMap(({ rewards }) => rewards[name] ?? []);
    return {
      index,
      digest: episodes[0]!.digest,
      question: episodes[0]!.question,
      reward: scored.flatMap(({ reward }) => reward ?? []),
      scores: Object.fromEntries(names.map((name) => [name, valuesOf(name)])),
    };
  });
}

function isAborted({ end }: EpisodeRow): boolean {
  return end.startsWith('aborted');
}

function costsOf({ head: { kind, facts }, overview: { cost }, rows }: ScoredRun): ComparedRun['costs'] {
  if (kind === 'training') {
    const minutes = cost.seconds === undefined ? undefined : cost.seconds / 60;
    return known({ minutes, trainingTokens: cost.generatedTokens });
  }
  const count = rows.length;
  const mean = (of: (row: EpisodeRow) => number) =>
    count === 0 ? undefined : rows.reduce((sum, row) => sum + of(row), 0) / count;
  const share = (total: unknown) => (typeof total === 'number' && count > 0 ? total / count : undefined);
  const tokens = mean((row) => row.tokens);
  return known({
    // A model on a server may not say its tokens.
    tokens: share(cost.generatedTokens) ?? (tokens === 0 ? undefined : tokens),
    turns: mean(({ turns }) => turns),
    calls: mean(({ calls }) => calls),
    seconds: share(cost.seconds),
    dollars: share(Object(facts.usage).cost),
  });
}

function known(costs: Partial<Record<CostName, number | undefined>>): ComparedRun['costs'] {
  return Object.fromEntries(Object.entries(costs).filter(([, value]) => value !== undefined));
}
