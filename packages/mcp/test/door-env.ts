/** An environment for tests of serving: knocking opens a door and offers another tool; other tools hang or fail. */
import {
  defineEnv,
  type EnvDefinition,
  type EnvSpec,
  type InitialState,
  outcomeReward,
  processReward,
  type Tool,
  ToolEnv,
  ToolEnvError,
  type TurnResult,
  terminated,
  text,
} from '@toolenv/core';

interface Door {
  room: string;
  open: boolean;
}

const schema = { type: 'object', properties: { force: { type: 'integer' } }, additionalProperties: false };
const simple = (name: string, execute: Tool['execute']): Tool => ({
  name,
  description: name,
  inputSchema: schema,
  execute,
});
const image = { type: 'image', data: 'iVBORw==', mimeType: 'image/png' };

/** The Envs that are open now. */
export const openDoors: Set<DoorEnv> = new Set<DoorEnv>();

class DoorEnv extends ToolEnv<string, Door> {
  readonly spec: EnvSpec = {
    specVersion: 'v1',
    name: 'door-v1',
    rewards: { knocked: processReward([0, 9], 0.1), right: outcomeReward([0, 1], 1) },
    limits: { maxTurns: 5, maxCallsPerTurn: 1, toolTimeout: 30_000, maxToolCharacters: 200 },
  };

  protected initial(room: string): InitialState<Door> {
    openDoors.add(this);
    return {
      state: { room, open: false },
      messages: [
        { role: 'system', content: 'You stand before a door.' },
        { role: 'user', content: `What is in room ${room}?` },
      ],
    };
  }

  protected tools(state: Door): Tool[] {
    const look = simple('look', async () => ({
      content: [{ type: 'text', text: `a ${state.room}` }, image],
      structuredContent: { thing: state.room },
    }));
    return [
      simple('knock', async () => {
        state.open = true;
        return text('The door opens.');
      }),
      simple('wait', (_, { signal }) => {
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }),
      simple('collapse', async () => {
        throw new ToolEnvError('infrastructure.quake', 'The house fell.');
      }),
      ...(state.open ? [look] : []),
    ];
  }

  protected override onToolResults(_: Door, calls: { call: unknown }[]): TurnResult {
    if ((calls[0]!.call as { name: string }).name === 'bug') throw new TypeError('a secret of the code');
    return { rewards: { knocked: 1 } };
  }

  protected onAnswer({ room }: Door, answer: string): TurnResult {
    return { rewards: { right: Number(answer === room) }, outcome: terminated('answered') };
  }

  override async close(): Promise<void> {
    await super.close();
    openDoors.delete(this);
  }
}

const rooms = ['cat', 'lamp', 'sea'];

export const doors: EnvDefinition<string, object> = defineEnv({
  name: 'door-v1',
  description: 'A door.',
  options: { type: 'object' },
  rewards: new DoorEnv().spec.rewards,
  limits: new DoorEnv().spec.limits,
  roles: {},
  async open() {
    const none = { length: 0, get: () => '' };
    const tasks = { train: none, validation: none, test: { length: 3, get: (i: number) => rooms[i]! } };
    return { tasks, episode: () => new DoorEnv(), close: async () => {} };
  },
});
