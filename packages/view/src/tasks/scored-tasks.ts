/** scoredTasks: what an evaluation got wrong, by task and by kind of task. */
import type { EpisodeRow } from '../view/episode-index.ts';
import { type KindScores, kindScores } from './kind-scores.ts';
import { type TaskScore, taskScores } from './task-scores.ts';

export interface ScoredTasks {
  /** What says which tasks are solved: a component, or `reward`. */
  score: string;
  solved: number;
  kinds: KindScores[];
  /** The lowest score first. */
  tasks: TaskScore[];
}

export function scoredTasks(rows: readonly EpisodeRow[], score: string): ScoredTasks {
  const tasks = taskScores(rows, score);
  return {
    score,
    solved: tasks.filter(({ isSolved }) => isSolved).length,
    kinds: kindScores([tasks]),
    tasks: tasks.sort((a, b) => a.mean - b.mean),
  };
}
