/** A small environment for tests. The `climb` tool raises the height; an answer is right if the height is the goal. */
import {
  type Env,
  type EnvHandle,
  type EnvLimits,
  type EnvSpec,
  type InitialState,
  outcomeReward,
  processReward,
  type TaskSet,
  type Tool,
  type ToolCallRecord,
  ToolEnv,
  type TurnResult,
  terminated,
  text,
} from '../src/index.ts';

export interface Rung {
  goal: number;
}

export const ladderLimits: EnvLimits = {
  maxTurns: 6,
  maxCallsPerTurn: 2,
  toolTimeout: 1000,
  maxToolCharacters: 60,
};

export const ladderSpec: EnvSpec = {
  specVersion: 'v1',
  name: 'ladder-v1',
  rewards: {
    right: outcomeReward([0, 1], 1),
    close: outcomeReward([0, 1], 0.5),
    climbed: processReward([0, 1], 0.1),
  },
  limits: ladderLimits,
};

export const climb: Tool = {
  name: 'climb',
  description: 'Climb some rungs.',
  inputSchema: {
    type: 'object',
    properties: { rungs: { type: 'integer', minimum: 1 } },
    required: ['rungs'],
    additionalProperties: false,
  },
  async execute({ rungs }) {
    return text(`climbed ${rungs}`);
  },
};

export class LadderEnv extends ToolEnv<Rung, { goal: number; height: number }> {
  readonly spec: EnvSpec;
  readonly #tool: Tool;

  constructor(tool: Tool = climb, limits: Partial<EnvLimits> = {}) {
    super();
    this.#tool = tool;
    this.spec = { ...ladderSpec, limits: { ...ladderLimits, ...limits } };
  }

  protected initial(task: Rung): InitialState<{ goal: number; height: number }> {
    return {
      state: { goal: task.goal, height: 0 },
      messages: [{ role: 'user', content: `Climb to ${task.goal}.` }],
    };
  }

  protected tools(): Tool[] {
    return [this.#tool];
  }

  protected override onToolResults(state: { height: number }, calls: ToolCallRecord[]): TurnResult {
    for (const { call, result } of calls)
      if (result && 'arguments' in call) state.height += Number(call.arguments.rungs);
    return { rewards: { climbed: calls.some(({ result }) => result) ? 1 : 0 } };
  }

  protected onAnswer(state: { goal: number; height: number }): TurnResult | Promise<TurnResult> {
    return { rewards: { right: state.height === state.goal ? 1 : 0 }, outcome: terminated('answered') };
  }
}

const tasks: TaskSet<Rung> = { length: 10, get: (index) => ({ goal: index + 1 }) };

/** An open environment that counts how many Envs were opened and closed. */
export function openLadder(
  make: () => Env<Rung> = () => new LadderEnv(),
): EnvHandle<Rung> & { opened: number; closed: number } {
  const open = {
    tasks: { train: tasks, validation: tasks, test: { length: 0, get: tasks.get } },
    opened: 0,
    closed: 0,
    episode() {
      open.opened += 1;
      const env = make();
      const close = env.close.bind(env);
      env.close = async () => {
        open.closed += 1;
        await close();
      };
      return env;
    },
    async close() {},
  };
  return open;
}
