/** Verdict: whether an evaluation is good enough, and why. */
import type { EvaluatedTask } from './evaluated-task.ts';

export interface Verdict {
  passed: boolean;
  /** One line, and if it failed, a line for each of the first tasks that are to blame. */
  message: string;
}

/** Tasks that a message lists. */
const maxTasks = 10;

export function scoreText(score: number | null): string {
  return score === null ? 'not scored' : score.toFixed(3);
}

/** @param line What happened to the task. */
export function taskLines<Task extends Pick<EvaluatedTask, 'index' | 'question'>>(
  tasks: readonly Task[],
  line: (task: Task) => string,
): string[] {
  const shown = tasks.slice(0, maxTasks).map((task) => {
    const question = task.question === '' ? '' : `  ${task.question}`;
    return `  task ${task.index}: ${line(task)}${question}`;
  });
  const more = tasks.length - shown.length;
  return more > 0 ? [...shown, `  and ${more} more`] : shown;
}
