/** EvaluatedTask: a task of an evaluation with the scores of its episodes, by which evaluations are compared. */
import { deriveSeed, type EpisodeSummary, type RewardSpec, type Trajectory } from '@toolenv/core';

/** A task of an evaluation. Aborted episodes, and episodes whose score is `null`, have no score. */
export interface EvaluatedTask {
  /** Place in the split, from 0. */
  index: number;
  /** Equal for equal tasks. */
  digest: string;
  /** The beginning of what the policy was first asked; empty if no episode began. */
  question: string;
  /** Weighted reward of each episode. */
  reward: number[];
  /** Each reward component of each episode. */
  scores: Record<string, number[]>;
}

/** White space, and characters that would move a terminal's cursor or reverse the direction of text. */
const breaks = /[\s\p{Cc}\p{Surrogate}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;
/** Characters of a question that are kept. */
const maxQuestionLength = 200;

/** Collects the episodes of an evaluation by their tasks. */
export class EvaluatedTasks {
  readonly #samples: number;
  readonly #tasks: Map<number, Pick<EvaluatedTask, 'digest' | 'question'>> = new Map();

  /** @param samples Episodes of each task. */
  constructor(samples: number) {
    this.#samples = samples;
  }

  /** Keeps what the task of an episode is. */
  add({ group, task, steps }: Trajectory<unknown>): void {
    const known = this.#tasks.get(group);
    const digest = known?.digest ?? digestOf(task);
    const question = known?.question || questionOf(steps);
    this.#tasks.set(group, { digest, question });
  }

  /** @param summaries Of the episodes of these tasks, in their order. */
  scored(summaries: readonly EpisodeSummary[], spec: RewardSpec): EvaluatedTask[] {
    const scoresOf = (scoreOf: Parameters<typeof taskScores>[2]) =>
      taskScores(summaries, this.#samples, scoreOf);
    const reward = scoresOf((summary) => summary.reward);
    const components = Object.keys(spec).map(
      (name) => [name, scoresOf(({ rewards }) => rewards[name])] as const,
    );
    return [...this.#tasks]
      .sort(([a], [b]) => a - b)
      .map(([index, task]) => ({
        ...{ index, ...task, reward: reward[index] ?? [] },
        scores: Object.fromEntries(components.map(([name, scores]) => [name, scores[index] ?? []])),
      }));
  }
}

/**
 * The scores of each task's episodes. Aborted episodes, and episodes whose score is `null`, are left out.
 * @param summaries `samples` episodes of each task, numbered task by task.
 */
export function taskScores(
  summaries: readonly EpisodeSummary[],
  samples: number,
  scoreOf: (summary: EpisodeSummary) => number | null | undefined,
): number[][] {
  const scores: number[][] = [];
  for (const summary of summaries) {
    const task = Math.floor(summary.index / samples);
    scores[task] ??= [];
    const score = summary.fault === undefined ? scoreOf(summary) : null;
    if (typeof score === 'number') scores[task].push(score);
  }
  return scores;
}

export function digestOf(task: unknown): string {
  const text = JSON.stringify(task ?? null);
  return [1, 2].map((half) => deriveSeed(half, text).toString(16).padStart(8, '0')).join('');
}

function questionOf(steps: Trajectory['steps']): string {
  const asked = steps[0]?.observation.messages.findLast(({ role }) => role === 'user');
  const line = (asked?.content ?? '').replaceAll(breaks, ' ').trim();
  return line.length > maxQuestionLength ? `${line.slice(0, maxQuestionLength - 1)}…` : line;
}
