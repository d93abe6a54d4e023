/** TaskHistory: how each training task has been played, for environments that choose their tasks by it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskResult } from '@toolenv/core';
import type { Learner } from '@toolenv/core/learner';
import { taskHistoryFile } from '../run-folder/checkpoints.ts';
import type { PlayedStep } from './play-step.ts';

export class TaskHistory {
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

  /** A learner whose checkpoints have the history too. */
  savedWith(learner: Pick<Learner, 'save' | 'load'>): Pick<Learner, 'save' | 'load'> {
    return {
      save: async (folder) => {
        await learner.save(folder);
        await writeFile(join(folder, taskHistoryFile), JSON.stringify([...this.#results]));
      },
      load: async (folder) => {
        await learner.load(folder);
        // A checkpoint of a run that did not choose its tasks has no history.
        const text = await readFile(join(folder, taskHistoryFile), 'utf8').catch(() => '[]');
        this.#results = new Map(JSON.parse(text));
      },
    };
  }
}
