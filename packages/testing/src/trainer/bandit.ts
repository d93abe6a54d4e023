/** A bandit: the smallest environment in which a trainer can learn. One turn, and the best arm pays 1. */
import { type EnvHandle, outcomeReward, ToolEnv, ToolEnvError, terminated } from '@toolenv/core';

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

class BanditEnv extends ToolEnv<BanditTask, BanditTask> {
  readonly spec = {
    specVersion: 'v1' as const,
    name: 'bandit-v1',
    rewards: { win: outcomeReward([0, 1], 1) },
    limits: { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 1000, maxToolCharacters: 100 },
  };
  readonly #options: BanditOptions;

  constructor(options: BanditOptions) {
    super();
    this.#options = options;
  }

  protected override initial(task: BanditTask) {
    const content = `Machine ${task.machine}: which arm?`;
    return { state: task, messages: [{ role: 'user' as const, content }] };
  }

  protected override tools() {
    return [];
  }

  protected override onAnswer({ machine }: BanditTask, text: string) {
    const { best, failing = [] } = this.#options;
    if (failing.includes(machine)) {
      const message = `Machine ${machine} is broken: play another.`;
      throw new ToolEnvError('infrastructure.machine', message);
    }
    return { rewards: { win: Number(text === String(best)) }, outcome: terminated('pulled') };
  }
}

/** An open bandit, to train in: `openBandit({ best: 1 })`. {@link BanditModel} can play it. */
export function openBandit(options: BanditOptions): EnvHandle<BanditTask> {
  const tasks = { length: machines, get: (machine: number) => ({ machine }) };
  return {
    tasks: { train: tasks, validation: tasks, test: tasks },
    episode: () => new BanditEnv(options),
    close: async () => {},
  };
}
