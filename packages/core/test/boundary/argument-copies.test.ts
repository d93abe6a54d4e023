/** How often the arguments of a call are copied on their way from the text of a model through an episode into the records. */
import { expect, test } from 'vitest';
import { copyJson, freezeJson, isFrozenJson, snapshot } from '../../src/boundary/json-copies.ts';
import { hermesFormat } from '../../src/call-formats/formats.ts';
import {
  collect,
  defineTool,
  defineToolEnv,
  openEnv,
  type Policy,
  rollout,
  type Trajectory,
  text,
} from '../../src/index.ts';

/** A property that only the arguments of this test have. */
const key = 'said in this test';

/** What `work` assigns to the property in objects that do not have it yet, as everything does that copies property by property. */
async function assignments(work: () => Promise<void>): Promise<object[]> {
  const assigned: object[] = [];
  Object.defineProperty(Object.prototype, key, {
    configurable: true,
    set(this: object, value: unknown) {
      // Not in copies of the tool's schema.
      if (Array.isArray(value)) assigned.push(this);
      Object.defineProperty(this, key, { value, enumerable: true, configurable: true, writable: true });
    },
  });
  try {
    await work();
  } finally {
    delete (Object.prototype as Record<string, unknown>)[key];
  }
  return assigned;
}

/** Adds the objects in `value` that are arguments, whichever way they were copied. */
function collectArguments<T>(value: T, into: Set<object>): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray((value as Record<string, unknown>)[key])) into.add(value);
  for (const part of Object.values(value)) collectArguments(part, into);
  return value;
}

const written = `<tool_call>{"name": "echo", "arguments": {"${key}": ["hello", {"to": "all"}]}}</tool_call>`;
/** The arguments that anybody but the tool has seen. */
const shared = new Set<object>();
const policy: Policy = {
  spec: { name: 'writer', contextLength: 1000 },
  act: async (observation) => {
    collectArguments(observation, shared);
    return { ...hermesFormat.parse(written), stopReason: 'tool_call' };
  },
};

test('two copies are made of the arguments: one that everybody shares, and the one of the tool', async () => {
  const given: object[] = [];
  const echo = defineTool({
    name: 'echo',
    description: 'Repeats.',
    inputSchema: { type: 'object', properties: { [key]: { type: 'array' } }, required: [key] },
    execute: (args) => {
      given.push(args);
      return text(JSON.stringify(args[key]));
    },
  });
  const env = await openEnv(
    defineToolEnv({
      name: 'echo-v1',
      description: 'Repeats.',
      limits: { maxTurns: 2 },
      tasks: { train: ['Say'] },
      rewards: {
        heard: {
          kind: 'outcome',
          range: [0, 2],
          score: ({ calls }) => Number(collectArguments(calls, shared).length),
        },
      },
      episode: ({ task }) => ({
        messages: task,
        tools: [echo],
        onToolResults: (calls, context) => void collectArguments([calls, context.conversation], shared),
      }),
    }),
  );
  let played: Trajectory | undefined;
  const copies = await assignments(async () => {
    const episodes = [{ task: 'Say', group: 0, sample: 0 }];
    const sampling = { maxTokens: 10, temperature: 1 };
    [played] = await collect(rollout({ env, policy, episodes, concurrency: 1, sampling, seed: 1 }));
  });
  expect(played!.outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
  collectArguments(played, shared);
  expect(played!.steps.map(({ action }) => action.toolCalls)).toEqual(
    ['call-0', 'call-0'].map((id) => [{ id, name: 'echo', arguments: { [key]: ['hello', { to: 'all' }] } }]),
  );
  // One call in each of two turns.
  expect(given).toHaveLength(2);
  expect([...shared].map(Object.isFrozen)).toEqual([true, true]);
  expect(copies).toHaveLength(4);
  expect([...shared, ...given].every((each) => copies.includes(each))).toBe(true);
});

test('a copy that nobody can change is frozen in each part, counts as often as it stands, and is not frozen for a tool', () => {
  const bounds = { depth: 4, characters: 100 };
  const given = { list: [{ deep: 'x' }] };
  const frozen = freezeJson(given, bounds);
  expect(frozen).toEqual(given);
  expect(frozen).not.toBe(given);
  expect([frozen, frozen.list, frozen.list[0]].every(Object.isFrozen)).toBe(true);
  expect(freezeJson(frozen, bounds)).toBe(frozen);
  expect(snapshot({ frozen }, bounds)).toMatchObject({ frozen });
  expect((snapshot({ frozen }, bounds) as { frozen: object }).frozen).toBe(frozen);
  const own = copyJson(frozen, bounds) as typeof given;
  own.list[0]!.deep = 'changed';
  expect(frozen.list[0]!.deep).toBe('x');
  // Frozen by somebody else, it may still have getters.
  expect(isFrozenJson(Object.freeze({ a: 1 }), bounds)).toBe(false);
  expect(isFrozenJson(frozen, bounds)).toBe(true);
  expect(isFrozenJson(frozen, { depth: 2, characters: 100 })).toBe(false);
  expect(isFrozenJson(frozen, { depth: 4, characters: 10 })).toBe(false);
  expect(() => freezeJson(frozen, { depth: 2, characters: 100 })).toThrow(/nests/);
  expect(() => freezeJson({ a: { b: frozen } }, bounds)).toThrow(/nests/);
  expect(() => freezeJson([frozen, frozen, frozen, frozen, frozen, frozen], bounds)).toThrow(/more than 100/);
});
