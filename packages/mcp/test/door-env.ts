/** An environment for tests of serving: knocking opens a door and offers another tool; other tools hang or fail. */
import {
  defineToolEnv,
  type EnvDefinition,
  type EnvLimits,
  type Tool,
  ToolEnvError,
  text,
} from '@toolenv/core';

const schema = { type: 'object', properties: { force: { type: 'integer' } }, additionalProperties: false };
const simple = (name: string, execute: Tool['execute']): Tool => ({
  name,
  description: name,
  inputSchema: schema,
  execute,
});
const image = { type: 'image', data: 'iVBORw==', mimeType: 'image/png' };

/** The episodes that are open now. */
export const openDoors: Set<object> = new Set();

export const doors: EnvDefinition<string, EnvLimits> = defineToolEnv({
  name: 'door-v1',
  description: 'A door.',
  rewards: { knocked: { kind: 'process', range: [0, 9], weight: 0.1 }, right: { kind: 'outcome' } },
  limits: { maxTurns: 5, maxCallsPerTurn: 1, toolTimeout: 30_000, maxToolCharacters: 200 },
  tasks: { test: ['cat', 'lamp', 'sea'] },
  episode({ task: room }) {
    const door = {};
    openDoors.add(door);
    let isOpen = false;
    const knock = simple('knock', async () => {
      isOpen = true;
      return text('The door opens.');
    });
    const wait = simple('wait', (_, { signal }) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const collapse = simple('collapse', async () => {
      throw new ToolEnvError('infrastructure.quake', 'The house fell.');
    });
    const look = simple('look', async () => ({
      content: [{ type: 'text', text: `a ${room}` }, image],
      structuredContent: { thing: room },
    }));
    return {
      messages: [
        { role: 'system', content: 'You stand before a door.' },
        { role: 'user', content: `What is in room ${room}?` },
      ],
      tools: () => (isOpen ? [knock, wait, collapse, look] : [knock, wait, collapse]),
      onToolResults([record]) {
        if (record && 'name' in record.call && record.call.name === 'bug')
          throw new TypeError('a secret of the code');
        return { rewards: { knocked: 1 } };
      },
      onAnswer: (answer) => ({ rewards: { right: Number(answer === room) }, end: 'answered' }),
      close: () => void openDoors.delete(door),
    };
  },
});
