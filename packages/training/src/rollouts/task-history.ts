/** TaskHistory: how each training task has been played, for environments that choose their tasks by it. */
import type { TaskResult } from '@toolenv/core';
import { groupBy } from '../rows/averages.ts';
import { type CheckpointPart, taskHistoryFile } from '../run-folder/checkpoints.ts';
import type { PlayedStep } from './play-step.ts';

export class TaskHistory implements CheckpointPart {
  readonly file: string = taskHistoryFile;
  #results: Map<number, TaskResult> = new Map();

  get results(): ReadonlyMap<number, TaskResult> {
    return this.#results;
  }

  /** @param step Counted from 1. */
  add({ played, tasks }: Pick<PlayedStep, 'played' | 'tasks'>, step: number): void {
    const scored = played.filter(({ reward }) => reward !== null);
    for (const [index, own] of groupBy(scored, ({ group }) => tasks.get(group)!)) {
      const { episodes, mean } = this.#results.get(index) ?? { episodes: 0, mean: 0 };
      const sum = own.reduce((total, { reward }) => total + reward!, 0);
      const all = episodes + own.length;
      const last = sum / own.length;
      this.#results.set(index, { episodes: all, mean: (mean * episodes + sum) / all, last, step });
    }
  }

  write(): string {
    return JSON.stringify([...this.#results]);
  }

  read(text: string): void {
    this.#results = new Map(JSON.parse(text));
  }
}
