/** A bandit: the smallest environment in which a trainer can learn. One turn, and the best arm pays 1. */
import { defineToolEnv, type EnvHandle, openEnv, ToolEnvError } from '@toolenv/core';

/** The task names the machine. All machines pay for the same arm. */
export interface BanditTask {
  machine: number;
}

export interface BanditOptions {
  /** The arm that pays 1. The others pay 0. */
  best: number;
  /** Machines that break when they are played, which aborts the episode. Default: none. */
  failing?: readonly number[];
}

/** Number of machines, which are the tasks of each split. */
export const machines = 8;

/** An open bandit, to train in: `openBandit({ best: 1 })`. {@link BanditModel} can play it. */
export function openBandit({ best, failing = [] }: BanditOptions): Promise<EnvHandle<BanditTask>> {
  const tasks = { length: machines, get: (machine: number) => ({ machine }) };
  const bandit = defineToolEnv({
    name: 'bandit-v1',
    description: 'Pull an arm of a machine.',
    prompts: { hint: '' },
    limits: { maxTurns: 1 },
    tasks: { train: tasks, validation: tasks, test: tasks },
    rewards: { win: { kind: 'outcome' } },
    episode: ({ task: { machine }, prompt }) => ({
      messages: `${prompt('hint')}Machine ${machine}: which arm?`,
      onAnswer(arm) {
        if (!failing.includes(machine))
          return { rewards: { win: Number(arm === String(best)) }, end: 'pulled' };
        throw new ToolEnvError('infrastructure.machine', `Machine ${machine} is broken: play another.`);
      },
    }),
    oracle: () => [String(best)],
  });
  return openEnv(bandit);
}
