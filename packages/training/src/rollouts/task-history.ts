/** TaskHistory: how each training task has been played, for environments that choose their tasks by it. */
import type { TaskResult } from '@toolenv/core';
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
    const rewards = new Map<number, number[]>();
    for (const { group, reward } of played) {
      const index = tasks.get(group)!;
      if (reward !== null) rewards.set(index, [...(rewards.get(index) ?? []), reward]);
    }
    for (const [index, own] of rewards) {
      const { episodes, mean } = this.#results.get(index) ?? { episodes: 0, mean: 0 };
      const sum = own.reduce((total, reward) => total + reward, 0);
      const all = episodes + own.length;
      this.#results.set(index, {
        episodes: all,
        mean: (mean * episodes + sum) / all,
        last: sum / own.length,
        step,
      });
    }
  }

  write(): string {
    return JSON.stringify([...this.#results]);
  }

  read(text: string): void {
    this.#results = new Map(JSON.parse(text));
  }
}
