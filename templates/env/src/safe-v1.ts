/** `safe-v1`: find the three-digit code of a safe. Each try tells whether the code is higher or lower; the answer is the code. */
import {
  createRng,
  defineEnv,
  defineTool,
  type EnvDefinition,
  type EnvSpec,
  type InitialState,
  outcomeReward,
  processReward,
  type Script,
  type Tool,
  type ToolCallRecord,
  ToolEnv,
  type TurnResult,
  terminated,
  text,
} from '@toolenv/core';

/** A task must be a JSON value, because trajectories contain it. */
export interface SafeTask {
  code: number;
}

export interface SafeOptions {
  /** Number of tasks in the training split. */
  tasks: number;
}

/** State of an episode: the code, and the range that the tries have left. */
interface SafeState {
  code: number;
  low: number;
  high: number;
}

const [lowest, highest] = [100, 999];

const spec: EnvSpec = {
  specVersion: 'v1',
  name: 'safe-v1',
  rewards: {
    /** At the end: 1 if the answer is the code. */
    opened: outcomeReward([0, 1], 1),
    /** At each try: the share of the remaining codes that it rules out. */
    narrowed: processReward([0, 1], 0.1),
  },
  limits: { maxTurns: 12, maxCallsPerTurn: 1, toolTimeout: 1000, maxToolCharacters: 200 },
};

/** The tool reports what happened. The environment decides what that is worth. */
function tryCode(code: number): Tool<{ code: number }> {
  return defineTool({
    name: 'try_code',
    description: 'Try a code. Says whether the right one is higher or lower.',
    inputSchema: {
      type: 'object',
      properties: { code: { type: 'integer', minimum: lowest, maximum: highest } },
      required: ['code'],
      additionalProperties: false,
    },
    execute: async ({ code: tried }) =>
      text(tried === code ? 'The safe opens.' : tried < code ? 'Higher.' : 'Lower.'),
  });
}

class SafeEnv extends ToolEnv<SafeTask, SafeState> {
  readonly spec: EnvSpec = spec;

  protected override initial({ code }: SafeTask): InitialState<SafeState> {
    const task = 'The code of the safe is a number of three digits. Find it, then answer with it alone.';
    return { state: { code, low: lowest, high: highest }, messages: [{ role: 'user', content: task }] };
  }

  protected override tools({ code }: SafeState): Tool[] {
    return [tryCode(code)];
  }

  protected override onToolResults(state: SafeState, calls: ToolCallRecord[]): TurnResult {
    const before = state.high - state.low + 1;
    for (const { call, result } of calls) {
      // A mistaken call has no result. The model has already read what was wrong with the call.
      if (result && 'arguments' in call) narrow(state, Number(call.arguments.code));
    }
    const after = state.high - state.low + 1;
    return { rewards: { narrowed: (before - after) / before } };
  }

  protected override onAnswer({ code }: SafeState, answer: string): TurnResult {
    const opened = answer.trim() === String(code);
    return { rewards: { opened: Number(opened) }, outcome: terminated('answered') };
  }
}

function narrow(state: SafeState, tried: number): void {
  if (tried <= state.code) state.low = Math.max(state.low, tried === state.code ? tried : tried + 1);
  if (tried >= state.code) state.high = Math.min(state.high, tried === state.code ? tried : tried - 1);
}

const safe: EnvDefinition<SafeTask, SafeOptions> = defineEnv({
  name: 'safe-v1',
  description: 'Find the code of a safe by trying: higher or lower.',
  options: {
    type: 'object',
    properties: {
      tasks: { type: 'integer', minimum: 1, default: 1000, description: 'number of training tasks' },
    },
    additionalProperties: false,
  },
  rewards: spec.rewards,
  limits: spec.limits,
  roles: {},
  async open({ options, seed }) {
    const tasks = (split: string, length: number) => ({
      length,
      get: (index: number): SafeTask => ({
        code: lowest + createRng(seed, split, index).int(highest - lowest + 1),
      }),
    });
    return {
      tasks: {
        train: tasks('train', options.tasks),
        validation: tasks('validation', 100),
        test: tasks('test', 200),
      },
      episode: () => new SafeEnv(),
      close: async () => {},
    };
  },
  oracle,
  label: ({ code }) => String(code),
});
export default safe;

/** A script that knows the code and wins: shows that the task can be solved. */
function oracle({ code }: SafeTask): Script {
  return (_seen, turn) => (turn === 0 ? [{ name: 'try_code', arguments: { code } }] : String(code));
}
