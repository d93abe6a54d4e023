/** The tasks of verifiers, in the splits that it does not have. */
import type { TaskSources } from '@toolenv/core';
import type { Player } from './player.ts';

/** A task of verifiers. */
export interface VerifiersTask {
  /** The set that it is of: `all`, `train` or `test`. */
  set: string;
  /** Its data as verifiers writes them, with the answer, and without fields that have their default. */
  data: Readonly<Record<string, unknown>>;
}

/** Without a config for tests, each fifth task is a test task. */
const testShare = 5;

/** The sets that a player loads: those of both configs, or all tasks of the only config. */
export function taskConfigs(config: object, test: object | undefined): Record<string, object> {
  return test ? { train: config, test } : { all: config };
}

export function taskSources(
  player: Player,
  limit: number,
  hasTestConfig: boolean,
): TaskSources<VerifiersTask> {
  const read = async function* (set: string, isChosen = (_index: number) => true) {
    const process = await player.process();
    let index = 0;
    for await (const data of process.tasks(set, limit)) {
      if (isChosen(index)) yield { set, data: data as VerifiersTask['data'] };
      index += 1;
    }
  };
  if (hasTestConfig) return { train: () => read('train'), test: () => read('test') };
  const isTest = (index: number) => index % testShare === testShare - 1;
  return { train: () => read('all', (index) => !isTest(index)), test: () => read('all', isTest) };
}
