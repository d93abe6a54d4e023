import { createRng, openEnv, type Split } from '@toolenv/core';
import { assertConforms, checkEnv } from '@toolenv/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeGoal, type Goal, goals, progress } from '../src/household/goal.ts';
import { drawHouse, kindOf } from '../src/household/house.ts';
import { World } from '../src/household/world.ts';
import household, { solution } from '../src/household-v1.ts';
import { play } from '../test/play.ts';

const house = {
  receptacles: ['cabinet 1', 'desk 1', 'fridge 1', 'garbagecan 1', 'microwave 1', 'shelf 1', 'sinkbasin 1'],
  objects: { 'book 1': 'desk 1', 'mug 1': 'cabinet 1', 'mug 2': 'shelf 1', 'pen 1': 'desk 1' },
};
const cleanMug: Goal = { object: 'mug', count: 1, treatment: 'clean', target: 'desk' };
const task = { goal: cleanMug, house };

describe('a world', () => {
  const after = (...commands: string[]) => {
    const world = new World(house);
    return commands.map((command) => world.act(command)).at(-1);
  };

  test.each<[string[], string]>([
    [['look'], `You stand in the middle of the house. Around you: ${house.receptacles.join(', ')}.`],
    [['go to desk 1'], 'You are at desk 1. On it: book 1, pen 1.'],
    [['  GO  to DESK 1 '], 'You are at desk 1. On it: book 1, pen 1.'],
    [['go to desk 2'], 'Nothing happens: there is no desk 2.'],
    [['go to cabinet 1'], 'You are at cabinet 1. It is closed.'],
    [['go to cabinet 1', 'open cabinet 1'], 'You open cabinet 1. In it: mug 1.'],
    [['go to cabinet 1', 'open cabinet 1', 'close cabinet 1', 'look'], 'You are at cabinet 1. It is closed.'],
    [['go to cabinet 1', 'take mug 1 from cabinet 1'], 'Nothing happens: cabinet 1 is closed.'],
    [['go to desk 1', 'open desk 1'], 'Nothing happens: desk 1 cannot be opened or closed.'],
    [['open cabinet 1'], 'Nothing happens: you are not at cabinet 1. Go there first.'],
    [['go to desk 1', 'take book 1 from desk 1'], 'You take book 1 from desk 1.'],
    [['go to desk 1', 'take mug 1 from desk 1'], 'Nothing happens: there is no mug 1 at desk 1.'],
    [
      ['go to desk 1', 'take book 1 from desk 1', 'take pen 1 from desk 1'],
      'Nothing happens: you carry book 1 already.',
    ],
    [['go to desk 1', 'take book 1 from desk 1', 'inventory'], 'You carry book 1.'],
    [['inventory'], 'You carry nothing.'],
    [['go to shelf 1', 'put book 1 on shelf 1'], 'Nothing happens: you do not carry book 1.'],
    [
      ['go to desk 1', 'take book 1 from desk 1', 'go to shelf 1', 'put book 1 in/on shelf 1', 'look'],
      'You are at shelf 1. On it: book 1, mug 2.',
    ],
    [
      ['go to desk 1', 'take pen 1 from desk 1', 'go to garbagecan 1', 'put pen 1 in garbagecan 1'],
      'You put pen 1 in garbagecan 1.',
    ],
    [
      ['go to shelf 1', 'take mug 2 from shelf 1', 'go to sinkbasin 1', 'clean mug 2 with sinkbasin 1'],
      'You clean mug 2 with sinkbasin 1. It is clean now.',
    ],
    [
      ['go to shelf 1', 'take mug 2 from shelf 1', 'go to fridge 1', 'heat mug 2 with fridge 1'],
      'Nothing happens: you cannot heat mug 2 with fridge 1.',
    ],
    [
      ['go to desk 1', 'take book 1 from desk 1', 'go to microwave 1', 'heat book 1 with microwave 1'],
      'Nothing happens: you cannot heat book 1 with microwave 1.',
    ],
  ])('%j: %s', (commands, reply) => {
    expect(after(...commands)).toBe(reply);
  });

  test.each(['', 'dance', 'take mug 1', 'go to', 'go to __proto__ 1', 'x'.repeat(1000)])(
    'answers "%s" with the commands',
    (command) => {
      const reply = after(command)!;
      expect(reply).toMatch(/^Nothing happens: /);
      expect(reply.length).toBeLessThan(400);
    },
  );

  test('keeps every object and stays within its places, whatever the commands', () => {
    const names = [...house.receptacles, ...Object.keys(house.objects)];
    const [name, verb] = [fc.constantFrom(...names), fc.constantFrom('clean', 'heat', 'cool')];
    const command = fc.oneof(
      fc.tuple(fc.constantFrom('go to', 'open', 'close'), name).map((words) => words.join(' ')),
      fc.tuple(name, name).map(([a, b]) => `take ${a} from ${b}`),
      fc.tuple(name, name).map(([a, b]) => `put ${a} in/on ${b}`),
      fc.tuple(verb, name, name).map(([treat, a, b]) => `${treat} ${a} with ${b}`),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        const world = new World(house);
        for (const each of commands) world.act(each);
        expect(world.objects).toEqual(Object.keys(house.objects));
        const places = world.objects.map((object) => world.placeOf(object));
        expect(places.filter((place) => place === 'hand').length).toBeLessThan(2);
        expect(places.every((place) => place === 'hand' || house.receptacles.includes(place))).toBe(true);
        const share = progress(cleanMug, world);
        expect(share >= 0 && share <= 1).toBe(true);
      }),
    );
  });
});

describe('a goal', () => {
  test.each<[Goal, string]>([
    [{ object: 'mug', count: 1, treatment: 'clean', target: 'desk' }, 'put a clean mug on the desk'],
    [{ object: 'egg', count: 1, target: 'fridge' }, 'put an egg in the fridge'],
    [{ object: 'egg', count: 1, treatment: 'heat', target: 'garbagecan' }, 'put a hot egg in the garbagecan'],
    [{ object: 'potato', count: 2, target: 'shelf' }, 'put two potatoes on the shelf'],
  ])('%j: %s', (goal, text) => {
    expect(describeGoal(goal)).toBe(text);
  });

  test('is reached by its solution in at most 20 turns, and by no shorter part of it', () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(...goals), (seed, goal) => {
        const wanted = { kind: goal.object, count: goal.count, except: goal.target };
        const drawn = drawHouse(createRng(seed), wanted);
        const world = new World(drawn);
        const commands = solution(drawn, goal);
        expect(commands.length).toBeLessThanOrEqual(20);
        for (const command of commands) {
          expect(progress(goal, world)).toBeLessThan(1);
          expect(world.act(command)).not.toMatch(/^Nothing happens/);
        }
        expect(progress(goal, world)).toBe(1);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('an episode', () => {
  const commands = [
    'go to shelf 1',
    'take mug 2 from shelf 1',
    'go to sinkbasin 1',
    'clean mug 2 with sinkbasin 1',
    'go to desk 1',
    'put mug 2 on desk 1',
  ];

  test('earns a third for each sub-goal, and 1 at the end', async () => {
    const { steps, rewards, reward, outcome } = await play(household, task, commands);
    expect(steps.map(({ rewards }) => rewards?.subgoals)).toEqual(
      [0, 1, 0, 1, 0, 1].map((share) => expect.closeTo(share / 3, 12)),
    );
    expect(outcome).toEqual({ kind: 'terminated', reason: 'done' });
    expect(rewards).toEqual({ done: 1, subgoals: expect.closeTo(1, 12) });
    expect(reward).toBeCloseTo(1.1, 12);
  });

  test('earns nothing for a sub-goal that is achieved again', async () => {
    const [go, take] = commands as [string, string];
    const again = [go, take, 'put mug 2 on shelf 1', take, 'put mug 2 on shelf 1', take];
    const { rewards, outcome, steps } = await play(household, task, again);
    expect(rewards.subgoals).toBeCloseTo(1 / 3, 12);
    expect(rewards.done).toBe(0);
    expect(outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
    expect(steps).toHaveLength(30);
  });

  test('reads the last line of a turn as the command', async () => {
    const { steps } = await play(household, task, ['I look at the shelf first.\n> go to shelf 1\n', 'look']);
    expect(steps[1]!.observation.messages.at(-1)!.content).toBe('You are at shelf 1. On it: mug 2.');
  });

  test('keeps the task, what was seen, and the last turns', async () => {
    const { steps } = await play(household, task, commands, { keptTurns: 2 });
    const seen = steps.map(({ observation }) => observation.messages.map(({ content }) => content));
    expect(seen.map(({ length }) => length)).toEqual([2, 4, 6, 6, 6, 6]);
    expect(seen[2]!.slice(0, 2)).toEqual(seen[0]);
    expect(seen[5]!.slice(1)).toEqual([
      `${seen[0]![1]}\n\nYou are at desk 1. You carry mug 2. You have seen:\nshelf 1: nothing\nsinkbasin 1: nothing\ndesk 1: book 1, pen 1`,
      'clean mug 2 with sinkbasin 1',
      'You clean mug 2 with sinkbasin 1. It is clean now.',
      'go to desk 1',
      'You are at desk 1. On it: book 1, pen 1.',
    ]);
    const whole = await play(household, task, commands, { keptTurns: 30 });
    expect(whole.steps.map(({ observation }) => observation.messages.length)).toEqual([2, 4, 6, 8, 10, 12]);
  });

  test('answers a tool call, since there are no tools', async () => {
    const { steps } = await play(household, task, [[{ name: 'go_to', arguments: {} }], ...commands]);
    expect(steps[0]!.calls[0]!.mistake).toMatchObject({ code: 'unknown_tool' });
    expect(steps).toHaveLength(7);
  });
});

test('no goal occurs in two splits, and none is reached at the start', async () => {
  const env = await openEnv(household);
  const all = (split: Split) => Promise.all(Array.from({ length: 100 }, (_, i) => env.tasks[split].get(i)));
  const splits = await Promise.all((['train', 'validation', 'test'] as const).map(all));
  const distinct = splits.map((tasks) => {
    for (const { goal, house } of tasks) {
      expect(progress(goal, new World(house))).toBe(0);
      expect(
        Object.keys(house.objects).filter((name) => kindOf(name) === goal.object).length,
      ).toBeGreaterThanOrEqual(goal.count);
    }
    return new Set(tasks.map(({ goal }) => JSON.stringify(goal)));
  });
  expect(new Set(distinct.flatMap((set) => [...set])).size).toBe(
    distinct.reduce((sum, { size }) => sum + size, 0),
  );
  await env.close();
});

test('follows the rules of the spec', async () => {
  const { skipped } = await assertConforms(checkEnv(household));
  // It has no tools of others that could fail.
  expect(skipped.map(({ rule }) => rule)).toEqual(['ENV-30', 'ENV-31']);
});
