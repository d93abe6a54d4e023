/** A small environment for tests. The `climb` tool raises the height; an answer is right if the height is the goal. */
import { ToolEnv } from '../src/env/tool-env.ts';
import {
  type Env,
  type EnvHandle,
  type EnvLimits,
  type EnvSpec,
  type Episode,
  type TaskSet,
  type Tool,
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
    right: { kind: 'outcome', range: [0, 1], weight: 1 },
    close: { kind: 'outcome', range: [0, 1], weight: 0.5 },
    climbed: { kind: 'process', range: [0, 1], weight: 0.1 },
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

export class LadderEnv extends ToolEnv<Rung> {
  /** @param hooks In place of the environment's own. */
  constructor(tool: Tool = climb, limits: Partial<EnvLimits> = {}, hooks: Partial<Episode> = {}) {
    super({
      spec: { ...ladderSpec, limits: { ...ladderLimits, ...limits } },
      rewards: ladderSpec.rewards,
      episode({ task: { goal } }) {
        let height = 0;
        return {
          messages: `Climb to ${goal}.`,
          tools: [tool],
          onToolResults(calls) {
            for (const { call, result } of calls)
              if (result && 'arguments' in call) height += Number(call.arguments.rungs);
            return { rewards: { climbed: calls.some(({ result }) => result) ? 1 : 0 } };
          },
          onAnswer: () => ({ rewards: { right: height === goal ? 1 : 0 }, end: 'answered' }),
          ...hooks,
        };
      },
    });
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
