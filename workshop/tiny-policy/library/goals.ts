/** Goals: the sorts of tasks of an environment, of which demonstrations leave some out. */
import { deriveSeed } from '@toolenv/core';
import type { QaTask } from '@toolenv/envs-qa';

/** Whether no demonstration shows tasks of this goal: about one in five goals, by a hash of its text. */
export function isLeftOut(goal: string): boolean {
  return deriveSeed(0, 'left out', goal) % 5 === 0;
}

/** A question without the names in it. */
export function questionGoal({ question }: Pick<QaTask, 'question'>): string {
  return question.replaceAll(/(?<=.)\b[A-Z]\w+( [A-Z]\w+)*/g, '…');
}
