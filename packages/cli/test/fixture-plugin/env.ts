/** An environment of one tool: press the switch as often as the task says, then answer. */
import {
  defineEnv,
  type EnvSpec,
  type InitialState,
  outcomeReward,
  type Tool,
  ToolEnv,
  type TurnResult,
  terminated,
  text,
} from '@toolenv/core';

type Task = { presses: number };

const spec: EnvSpec = {
  specVersion: 'v1',
  name: 'lamp-v1',
  rewards: { em: outcomeReward([0, 1], 1), tidy: outcomeReward([0, 1], 0.5) },
  limits: { maxTurns: 4, maxCallsPerTurn: 1, toolTimeout: 1000, maxToolCharacters: 100 },
};

const press: Tool = {
  name: 'press',
  description: 'Press the switch.',
  inputSchema: { type: 'object', additionalProperties: false },
  execute: async () => text('click'),
};

class Lamp extends ToolEnv<Task, { left: number }> {
  readonly spec = spec;
  protected initial({ presses }: Task): InitialState<{ left: number }> {
    return { state: { left: presses }, messages: [{ role: 'user', content: `Press ${presses} times.` }] };
  }
  protected tools(): Tool[] {
    return [press];
  }
  protected override onToolResults(state: { left: number }): TurnResult {
    state.left -= 1;
    return {};
  }
  protected onAnswer({ left }: { left: number }): TurnResult {
    return { rewards: { em: left === 0 ? 1 : 0, tidy: left >= 0 ? 1 : 0 }, outcome: terminated('answered') };
  }
}

export default defineEnv({
  name: 'lamp',
  description: 'Press a switch',
  options: { type: 'object', properties: { size: { type: 'integer', minimum: 1, default: 30 } } },
  rewards: spec.rewards,
  limits: spec.limits,
  roles: {},
  async open({ options }: { options: { size: number } }) {
    const tasks = { length: options.size, get: (index: number): Task => ({ presses: index % 3 }) };
    return {
      tasks: { train: tasks, validation: tasks, test: tasks },
      episode: () => new Lamp(),
      async close() {},
    };
  },
});
