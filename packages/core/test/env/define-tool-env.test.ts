/** What an author declares, and how the environment behaves then. */
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type Action,
  defineTool,
  defineToolEnv,
  type EnvDefinition,
  type Episode,
  type EpisodeContext,
  type Message,
  openEnv,
  playTask,
  type Scripted,
  type Trajectory,
  text,
} from '../../src/index.ts';

const say = (words: string): Action => ({ text: words, toolCalls: [], stopReason: 'stop' });
const contents = (messages: readonly Message[]) => messages.map(({ content }) => content);

/** Plays the first training task. */
async function play<Task, Options>(
  definition: EnvDefinition<Task, Options>,
  said: readonly Scripted[],
): Promise<Trajectory<Task>> {
  await using env = await openEnv(definition);
  return await playTask(env, env.tasks.train.get(0), said);
}

const count = defineTool({
  name: 'count',
  description: 'Counts up.',
  inputSchema: { type: 'object', properties: { by: { type: 'integer' } }, additionalProperties: false },
  execute: async ({ by = 1 }, { callIndex }) => text(`${by} in call ${callIndex}`),
});

describe('what hooks return', () => {
  const talk = (onAnswer: () => string | object | undefined) =>
    defineToolEnv({
      name: 'talk-v1',
      description: 'Talk.',
      tasks: { train: ['Hello?'] },
      rewards: { polite: { kind: 'outcome' } },
      limits: { maxTurns: 3 },
      episode: ({ task }) => ({ messages: task, onAnswer }),
    });
  const conversations = ({ steps }: Trajectory) =>
    steps.map(({ observation }) => contents(observation.messages));

  test('a text is appended as a reply, and nothing said before is lost', async () => {
    const played = await play(
      talk(() => 'Go on.'),
      ['a', 'b', 'c'],
    );
    expect(conversations(played)).toEqual([
      ['Hello?'],
      ['Hello?', 'a', 'Go on.'],
      ['Hello?', 'a', 'Go on.', 'b', 'Go on.'],
    ]);
    expect(played.outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
    expect(played.steps[1]!.observation.messages.at(-1)!.role).toBe('user');
  });

  test('rewrite replaces the conversation, and a reply follows it', async () => {
    const rewrite = [{ role: 'system', content: 'Summary.' }];
    const played = await play(
      talk(() => ({ rewrite, reply: 'Again?' })),
      ['a', 'b'],
    );
    expect(conversations(played)[1]).toEqual(['Summary.', 'Again?']);
  });

  test('an answer without a reply or an end is a bug that names the line to write', async () => {
    await expect(
      play(
        talk(() => undefined),
        ['a'],
      ),
    ).rejects.toMatchObject({
      code: 'bug.no_reply',
      message: expect.stringContaining('talk-v1: onAnswer neither replies nor ends: return a text to reply'),
    });
  });

  test('in the last turn, nothing needs a reply', async () => {
    let turns = 0;
    const played = await play(
      talk(() => (++turns < 3 ? 'Go on.' : undefined)),
      ['a', 'b', 'c'],
    );
    expect(played.outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
  });

  test('without onAnswer, an answer ends the episode', async () => {
    const definition = defineToolEnv({
      name: 'once-v1',
      description: 'Answer once.',
      tasks: { train: [4] },
      rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(Number(answer) === task) } },
      episode: ({ task }) => ({ messages: `${task - 2} + 2?` }),
    });
    expect(await play(definition, ['4'])).toMatchObject({
      outcome: { kind: 'terminated', reason: 'answered' },
      rewards: { right: 1 },
    });
  });
});

describe('reward functions', () => {
  const scored = defineToolEnv({
    name: 'scored-v1',
    description: 'Count, then answer.',
    tasks: { train: [{ goal: 2 }] },
    state: ({ task }) => ({ left: task.goal }),
    rewards: {
      right: {
        kind: 'outcome',
        score: async ({ answer, task }) => (answer === undefined ? null : Number(answer === `${task.goal}`)),
      },
      calls: { kind: 'outcome', weight: 0, range: [0, 100], score: ({ calls }) => calls.length },
      counted: { kind: 'process', weight: 0.5, score: ({ turnCalls }) => turnCalls.length / 2 },
      given: { kind: 'process', weight: 0, score: () => 1 },
    },
    limits: { maxTurns: 3 },
    episode({ state }) {
      expectTypeOf(state.left).toEqualTypeOf<number>();
      return {
        messages: 'Count.',
        tools: [count],
        onToolResults(calls) {
          state.left -= calls.length;
          return state.left < 0 ? { rewards: { given: 0.25 } } : undefined;
        },
      };
    },
  });
  const call = { name: 'count', arguments: {} };

  test('score where no hook did: each turn, and once at the end', async () => {
    const { steps, rewards, reward } = await play(scored, [[call, call], [call], '2']);
    expect(steps.map((step) => step.rewards)).toEqual([
      { counted: 1, given: 1 },
      { counted: 0.5, given: 0.25 },
      { right: 1, calls: 3, counted: 0, given: 1 },
    ]);
    expect(rewards).toEqual({ right: 1, calls: 3, counted: 1.5, given: 2.25 });
    expect(reward).toBe(1.75);
  });

  test('score a truncated episode too; what they leave unscored is 0', async () => {
    const { outcome, rewards } = await play(scored, [[call], [call], [call]]);
    expect(outcome).toEqual({ kind: 'truncated', reason: 'max_turns' });
    expect(rewards).toMatchObject({ right: 0, calls: 3 });
    const cut = await play(scored, [{ text: '2', toolCalls: [], stopReason: 'length' }]);
    expect(cut.rewards).toMatchObject({ right: 0, calls: 0 });
  });

  test('declare their weights and ranges without the functions', () => {
    expect(scored.rewards).toEqual({
      right: { kind: 'outcome', range: [0, 1], weight: 1 },
      calls: { kind: 'outcome', range: [0, 100], weight: 0 },
      counted: { kind: 'process', range: [0, 1], weight: 0.5 },
      given: { kind: 'process', range: [0, 1], weight: 0 },
    });
  });
});

describe('the environment’s own calls', () => {
  const failing = { ...count, name: 'fail', execute: async () => ({ ...text('no'), isError: true }) };
  const withCalls = (tool: typeof count | string, args?: Record<string, unknown>) =>
    defineToolEnv({
      name: 'calls-v1',
      description: 'Use tools as the environment.',
      tasks: { train: [0] },
      rewards: {
        fine: {
          kind: 'outcome',
          score: async ({ call }) => Number((await call(tool, args)).text.startsWith('9')),
        },
      },
      async episode({ call }) {
        const { text: seen } = await call(count, { by: 5 });
        return { messages: `The state is ${seen}.`, tools: [count, failing] };
      },
    });

  test('are recorded apart from the policy’s, with indices of their own', async () => {
    const turn = [{ name: 'count', arguments: { by: 3 } }];
    const { steps, rewards } = await play(withCalls('count', { by: 9 }), [turn, 'done']);
    expect(contents(steps[0]!.observation.messages)).toEqual(['The state is 5 in call 0.']);
    expect(steps[0]!.calls.map(({ text }) => text)).toEqual(['3 in call 1']);
    expect(steps[0]!.environmentCalls).toMatchObject([
      { call: { id: 'environment-0', name: 'count', arguments: { by: 5 } }, text: '5 in call 0' },
    ]);
    expect(steps[1]!.calls).toEqual([]);
    expect(steps[1]!.environmentCalls!.map(({ text }) => text)).toEqual(['9 in call 2']);
    expect(rewards.fine).toBe(1);
    expect(JSON.stringify(steps.map(({ observation }) => observation))).not.toContain('call 2');
  });

  test('return what a tool reports as an error', async () => {
    expect((await play(withCalls('fail'), ['done'])).rewards.fine).toBe(0);
  });

  test.each([
    ['an unknown tool', 'cuont', {}, 'the episode has no such tool'],
    ['wrong arguments', 'count', { by: 'x' }, '/by'],
  ])('with %s are a bug', async (_, tool, args, message) => {
    await expect(play(withCalls(tool, args), ['done'])).rejects.toMatchObject({
      code: 'bug.environment_call',
      message: expect.stringContaining(message),
    });
  });
});

describe('tasks', () => {
  const over = <Task>(tasks: Parameters<typeof defineToolEnv<Task, 'r'>>[0]['tasks']) =>
    defineToolEnv({
      name: 'tasks-v1',
      description: 'Tasks.',
      tasks,
      rewards: { r: { kind: 'outcome' } },
      episode: () => ({ messages: 'x' }),
    });

  test('are an array, a stream that is read once, or made by index; a split left out is empty', async () => {
    let reads = 0;
    async function* stream() {
      reads += 1;
      yield* ['a', 'b'];
    }
    const definition = over<string>({
      train: stream(),
      validation: { length: 1e9, get: (index) => `task ${index}` },
    });
    for (let opened = 0; opened < 2; opened++) {
      await using env = await openEnv(definition);
      const { train, validation, test } = env.tasks;
      expect(await Promise.all([train.length, validation.length, test.length])).toEqual([2, 1e9, 0]);
      expect([await train.get(1), validation.get(999_999_999)]).toEqual(['b', 'task 999999999']);
      await expect(train.get(2)).rejects.toThrow('Task 2 does not exist: there are 2.');
      expectTypeOf(await env.tasks.train.get(0)).toEqualTypeOf<string>();
    }
    expect(reads).toBe(1);
  });
});

describe('options, limits and what episodes share', () => {
  const teardown = vi.fn();
  const optioned = defineToolEnv({
    name: 'options-v1',
    description: 'Options.',
    options: { properties: { size: { type: 'integer', minimum: 1, default: 3 } } },
    limits: { maxTurns: 7 },
    setup: async ({ options, seed }) => ({ sum: options.size + seed }),
    teardown,
    tasks: ({ options, shared }) => ({
      train: { length: options.size, get: (index: number) => index + shared.sum },
    }),
    rewards: { r: { kind: 'outcome', score: ({ shared }) => shared.sum / 10 } },
    episode: ({ task, options, shared, limits }) => ({
      messages: `${task} ${options.size} ${shared.sum}, ${limits.maxTurns} turns`,
    }),
  });

  test('the limits are options with defaults', async () => {
    expect(optioned.limits).toEqual({
      maxTurns: 7,
      maxCallsPerTurn: 8,
      toolTimeout: 60_000,
      maxToolCharacters: 16_384,
    });
    await using env = await openEnv(optioned, { size: 2, toolTimeout: 50 }, { seed: 4 });
    const episode = env.episode();
    expect(episode.spec.limits).toMatchObject({ maxTurns: 7, toolTimeout: 50 });
    expect(await episode.reset({ task: await env.tasks.train.get(1), seed: 1 })).toMatchObject({
      messages: [{ role: 'user', content: '7 2 6, 7 turns' }],
    });
    expect((await episode.step(say('x'))).rewards).toEqual({ r: 0.6 });
    await expect(openEnv(optioned, { size: 0 })).rejects.toMatchObject({ code: 'usage.bad_option' });
    // @ts-expect-error There is no such option.
    await expect(openEnv(optioned, { sise: 2 })).rejects.toThrow('Did you mean "size"?');
  });

  test('without openEnv, which completes options, the limits are those of the definition', async () => {
    const env = await optioned.open({ options: { size: 1 } as never, seed: 1, tools: {} });
    expect(env.episode().spec.limits).toEqual(optioned.limits);
  });

  test('what setup made is released once', async () => {
    teardown.mockClear();
    const env = await openEnv(optioned, {}, { seed: 2 });
    await env.close();
    await env.close();
    expect(teardown.mock.calls).toEqual([[{ sum: 5 }]]);
  });

  test('what setup made is released if the tasks cannot be made', async () => {
    teardown.mockClear();
    const broken = { ...optioned };
    const definition = defineToolEnv({
      name: broken.name,
      description: broken.description,
      setup: async () => 'shared',
      teardown,
      tasks: (): { train: number[] } => {
        throw new Error('no file');
      },
      rewards: { r: { kind: 'outcome' } },
      episode: () => ({ messages: 'x' }),
    });
    await expect(openEnv(definition)).rejects.toThrow('no file');
    expect(teardown.mock.calls).toEqual([['shared']]);
  });

  test('a Standard Schema gives flags, defaults, types and transforms', async () => {
    const definition = defineToolEnv({
      name: 'zod-v1',
      description: 'Options of zod.',
      options: z.object({
        level: z.enum(['easy', 'hard']).default('easy'),
        day: z.string().transform((day) => day.length),
      }),
      tasks: ({ options }) => ({ train: [options.day] }),
      rewards: { r: { kind: 'outcome' } },
      episode({ options, task }) {
        expectTypeOf(options).toEqualTypeOf<{ level: 'easy' | 'hard'; day: number }>();
        return { messages: `${options.level} ${task}` };
      },
    });
    expect(definition.options.properties).toMatchObject({
      level: { enum: ['easy', 'hard'], default: 'easy' },
      maxTurns: { default: 10 },
    });
    await using env = await openEnv(definition, { day: 'Monday' });
    expect(await env.episode().reset({ task: await env.tasks.train.get(0), seed: 1 })).toMatchObject({
      messages: [{ content: 'easy 6' }],
    });
  });

  test('an option with the name of a limit is refused', () => {
    const define = () =>
      defineToolEnv({
        name: 'taken-v1',
        description: 'x',
        options: { properties: { maxTurns: { type: 'integer' } } },
        tasks: { train: [1] },
        rewards: { r: { kind: 'outcome' } },
        episode: () => ({ messages: 'x' }),
      });
    expect(define).toThrow('taken-v1: option "maxTurns" is a limit already: set its default in "limits"');
  });
});

test('an episode is closed once, whether it ended, was left or failed', async () => {
  const closed: string[] = [];
  const definition = defineToolEnv({
    name: 'closing-v1',
    description: 'x',
    tasks: { train: ['fine', 'broken'] },
    rewards: { r: { kind: 'outcome' } },
    episode: ({ task, episodeId }) => ({
      messages: 'x',
      onAnswer() {
        if (task === 'broken') throw new TypeError('a bug');
        return 'again';
      },
      close: () => void closed.push(episodeId),
    }),
  });
  await using env = await openEnv(definition);
  const one = env.episode();
  await one.reset({ task: 'fine', seed: 1, episodeId: 'left' });
  await one.reset({ task: 'broken', seed: 1, episodeId: 'failed' });
  expect(closed).toEqual(['left']);
  await expect(one.step(say('x'))).rejects.toThrow('a bug');
  await one.close();
  await one.close();
  expect(closed).toEqual(['left', 'failed']);
});

test('types: undeclared rewards and wrong tasks are errors', () => {
  const common = { name: 'typed-v1', description: 'x', tasks: { train: [1, 2] } } as const;
  defineToolEnv({
    ...common,
    rewards: { solved: { kind: 'outcome' } },
    // @ts-expect-error The reward is not declared.
    episode: () => ({ messages: 'x', onAnswer: () => ({ rewards: { sovled: 1 }, end: 'x' }) }),
  });
  defineToolEnv({
    ...common,
    rewards: { solved: { kind: 'outcome' } },
    // @ts-expect-error A number has no question.
    episode: ({ task }) => ({ messages: task.question }),
  });
  defineToolEnv({
    ...common,
    // @ts-expect-error A score is a number or null.
    rewards: { solved: { kind: 'outcome', score: () => 'yes' } },
    episode: async () => ({ messages: 'x', onToolResults: async () => undefined }),
  });
});

test('a player that is not declared is refused by the types', () => {
  const parts = {
    name: 'duel-v1',
    description: 'x',
    tasks: { train: [0] },
    players: { anna: { description: 'one' }, ben: { description: 'another' } },
    rewards: { won: { kind: 'outcome' } },
  } as const;
  const decision = { end: 'over', rewards: { won: 1 } };
  defineToolEnv({
    ...parts,
    episode: ({ player }) => ({
      messages: 'Go.',
      async onAnswer() {
        await player('anna').ask('Go.');
        // @ts-expect-error There is no carl.
        const carl = () => player('carl');
        return { ...decision, playerRewards: { ben: { won: Number(carl.length) } } };
      },
    }),
  });
  defineToolEnv({
    ...parts,
    episode: () => ({
      messages: 'Go.',
      // @ts-expect-error There is no bem.
      onAnswer: () => ({ ...decision, playerRewards: { bem: { won: 1 } } }),
    }),
  });
});

describe('types of parts that stand outside of the definition', () => {
  interface Safe {
    code: number;
  }
  const safe = { name: 'safe-v1', description: 'x' } as const;
  const options = { properties: { size: { type: 'integer', default: 2 } } } as const;
  // With a parameter, so that TypeScript infers the type of a task late.
  const tasks = ({ seed }: { seed: number }) => ({ train: [{ code: seed, hint: 'odd' }] });

  test('the tasks give the type of a task, whatever a score, a state, a script or an episode asks of it', async () => {
    const state = ({ task }: EpisodeContext<Safe>) => ({ left: task.code });
    const score = ({ task, state, answer }: EpisodeContext<Safe, { left: number }>) =>
      Number(task.code + state.left === Number(answer));
    const script = ({ task }: EpisodeContext<Safe>) => String(task.code);
    const definition = defineToolEnv({
      ...safe,
      options,
      setup: async ({ options }) => ({ sum: options.size }),
      tasks: ({ seed, shared }) => ({ train: [{ code: seed + shared.sum, hint: 'odd' }] }),
      state,
      players: { other: { description: 'another', play: 'plain', scripts: { plain: script } } },
      rewards: {
        opened: { kind: 'outcome', score },
        hinted: { kind: 'outcome', score: ({ task }) => task.hint.length / 3 },
      },
      episode({ task, state, shared }) {
        expectTypeOf(task).toEqualTypeOf<{ code: number; hint: string }>();
        expectTypeOf(state).toEqualTypeOf<{ left: number }>();
        expectTypeOf(shared).toEqualTypeOf<{ sum: number }>();
        return { messages: task.hint };
      },
    });
    // Seed 1, and 2 of the options.
    expect((await play(definition, ['6'])).rewards).toEqual({ opened: 1, hinted: 1 });
    const begin = ({ task }: EpisodeContext<Safe>): Episode<'opened'> => ({ messages: String(task.code) });
    const outside = defineToolEnv({
      ...safe,
      tasks: ({ seed }) => tasks({ seed }),
      rewards: { opened: { kind: 'outcome', score: ({ task }) => task.hint.length } },
      episode: begin,
    });
    expectTypeOf(outside).toExtend<EnvDefinition<{ code: number; hint: string }, never>>();
  });

  test('a part that asks more than a task has is an error', () => {
    defineToolEnv({
      ...safe,
      // @ts-expect-error A task has no question.
      tasks: ({ seed }) => tasks({ seed }),
      rewards: {
        opened: {
          kind: 'outcome',
          score: ({ task }: EpisodeContext<{ question: string }>) => task.question.length,
        },
      },
      episode: () => ({ messages: 'x' }),
    });
  });

  test('the type of a task may be given by hand, in any order, and the others follow', async () => {
    const definition = defineToolEnv<Safe>()({
      ...safe,
      options,
      rewards: {
        opened: { kind: 'outcome', score: ({ task, answer }) => Number(task.code === Number(answer)) },
      },
      episode: ({ task, options }) => ({ messages: `${task.code} of ${options.size * 1}` }),
      tasks: ({ seed }) => tasks({ seed }),
      oracle: ({ code }) => [String(code)],
    });
    expectTypeOf(definition).toExtend<EnvDefinition<Safe, never>>();
    expect((await play(definition, ['1'])).rewards).toEqual({ opened: 1 });
    defineToolEnv<Safe>()({
      ...safe,
      // @ts-expect-error A number is no safe.
      tasks: { train: [1] },
      rewards: { opened: { kind: 'outcome' } },
      // @ts-expect-error The reward is not declared.
      episode: () => ({ messages: 'x', onAnswer: () => ({ rewards: { openned: 1 }, end: 'x' }) }),
    });
  });
});

describe('what would be overlooked is refused', () => {
  const scoring = (decide: () => unknown) =>
    defineToolEnv({
      name: 'score-v1',
      description: 'Scores.',
      tasks: { train: ['Go.'] },
      rewards: { score: { kind: 'outcome' } },
      episode: ({ task }) => ({ messages: task, onAnswer: decide as never }),
    });
  class Score {
    score = 1;
  }
  const end = 'answered';

  test.each<[string, RegExp, unknown]>([
    [
      'a Promise of rewards',
      /rewards that are a Promise: await it/,
      { end, rewards: Promise.resolve({ score: 1 }) },
    ],
    ['rewards of 1', /rewards that are 1: give an object/, { end, rewards: 1 }],
    ['a Map of rewards', /rewards that are an object: give/, { end, rewards: new Map([['score', 1]]) }],
    ['rewards of a class', /rewards that are an object: give/, { end, rewards: new Score() }],
    ['rewards of null', /rewards that are null/, { end, rewards: null }],
    [
      'an undefined reward',
      /a reward "score" of undefined: give a number/,
      { end, rewards: { score: undefined } },
    ],
    [
      'a Promise as a reward',
      /a reward "score" that is a Promise: await it/,
      { end, rewards: { score: Promise.resolve(1) } },
    ],
    ['a misspelt part', /an unknown part "reward"\. Did you mean "rewards"\?/, { end, reward: { score: 1 } }],
    ['a number', /onAnswer returned 1: return a text/, 1],
    ['a list of messages', /onAnswer returned an array/, [{ role: 'user', content: 'Go on.' }]],
    ['a reply of 7', /a reply that is 7/, { reply: 7 }],
    ['a rewrite of a text', /a rewrite that is "x"/, { rewrite: 'x' }],
  ])('a hook that returns %s', async (_, message, decision) => {
    const played = play(
      scoring(() => decision),
      ['done'],
    );
    await expect(played).rejects.toMatchObject({
      code: 'bug.environment',
      message: expect.stringMatching(message),
    });
  });

  test.each<[string, RegExp, object]>([
    ...[Number.NaN, Number.POSITIVE_INFINITY, {}, null, '0.5'].map((weight): [string, RegExp, object] => [
      `a weight of ${JSON.stringify(weight)} (${weight})`,
      /score-v1 breaks ENV-4: .* is the weight of reward "score": give a finite number/,
      { weight },
    ]),
    ['a misspelt weight', /unknown part "wieght"\. Did you mean "weight"\?/, { wieght: 1 }],
    [
      'a weight that throws',
      /reward "score" cannot be read \(no weight\): give its parts as plain values/,
      Object.defineProperty({}, 'kind', {
        enumerable: true,
        get: () => {
          throw new Error('no weight');
        },
      }),
    ],
    ['an unknown kind', /"final" is the kind of reward "score"/, { kind: 'final' }],
    [
      'a monitor that weighs',
      /true is `monitor` and -1 the weight of reward "score": give monitor: true without a weight/,
      { monitor: true, weight: -1 },
    ],
    ['a range upside down', /\[1,0\] is the range/, { range: [1, 0] }],
    ['an endless range', /is the range/, { range: [0, Number.POSITIVE_INFINITY] }],
  ])('a definition with %s', (_, message, declared) => {
    const define = () =>
      defineToolEnv({
        name: 'score-v1',
        description: 'Scores.',
        tasks: { train: ['Go.'] },
        rewards: {
          score: Object.defineProperties(
            { kind: 'outcome' as const },
            Object.getOwnPropertyDescriptors(declared),
          ),
        },
        episode: () => ({ messages: 'Go.' }),
      });
    expect(define).toThrow(message);
  });

  const talk = { name: 'talk-v1', description: 'Talk.', tasks: { train: ['Go.'] } };
  const rewards = { score: { kind: 'outcome' } } as const;
  const messages = 'Go.';
  const again = () => 'Go on.';

  test.each<[string, string, unknown]>([
    [
      'a misspelt hook',
      'an unknown part "onAnwser". Did you mean "onAnswer"?',
      { messages, onAnwser: again },
    ],
    [
      'half a hook',
      'an unknown part "onToolResult". Did you mean "onToolResults"?',
      { messages, onToolResult: again },
    ],
    ['tool', 'an unknown part "tool". Did you mean "tools"?', { messages, tool: [count] }],
    ['message', 'an unknown part "message". Did you mean "messages"?', { message: 'Go.' }],
    [
      'limits',
      '"limits", a part of the definition: write it beside "episode".',
      { messages, limits: { maxTurns: 1 } },
    ],
    [
      'end',
      '"end", a part of what its hooks return: write it in onAnswer or onToolResults.',
      { messages, end: 'x' },
    ],
    [
      'something else',
      'an unknown part "zzzzzzzz". Parts: messages, tools, environmentTools, onToolResults,',
      { messages, zzzzzzzz: 1 },
    ],
    ['no messages', 'messages that are missing: give a text or messages.', { tools: [count] }],
    ['one message', 'messages that are an object: give', { messages: { role: 'user', content: 'Go.' } }],
    ['one tool', '"tools" that is an object: give an array of tools', { messages, tools: count }],
    [
      'a hook that is a text',
      '"onAnswer" that is "Go on.": give a function.',
      { messages, onAnswer: 'Go on.' },
    ],
    ['a text', '"Go.": return an object such as { messages, tools, onAnswer }.', 'Go.'],
    ['nothing', 'nothing: return an object', undefined],
  ])('an episode with %s', async (_, message, begun) => {
    const definition = defineToolEnv({ ...talk, rewards, episode: (() => begun) as never });
    await expect(play(definition, ['done'])).rejects.toMatchObject({
      code: 'bug.environment',
      message: expect.stringContaining(`talk-v1: episode returned ${message}`),
    });
  });

  test('an episode of a class may have fields of its own', async () => {
    class Talk implements Episode<'score'> {
      messages = 'Go.';
      readonly #said: string[] = [];
      turns = 0;
      onAnswer(answer: string) {
        this.#said.push(answer);
        return ++this.turns < 2 ? 'Go on.' : { rewards: { score: this.#said.length / 2 }, end: 'said' };
      }
    }
    const definition = defineToolEnv({ ...talk, rewards, episode: (): Episode<'score'> => new Talk() });
    expect((await play(definition, ['a', 'b'])).rewards).toEqual({ score: 1 });
  });

  test.each<[string, RegExp, object]>([
    [
      'a misspelt part',
      /the definition has an unknown part "oracel"\. Did you mean "oracle"\?/,
      { oracel: again },
    ],
    [
      'a misspelt limit',
      /"limits" has an unknown part "maxTurn"\. Did you mean "maxTurns"\?/,
      { limits: { maxTurn: 1 } },
    ],
    [
      'a misspelt capability',
      /"capabilities" has an unknown part "concurent"\. Did you mean "concurrent"\?/,
      { capabilities: { concurent: false } },
    ],
    ['no rewards', /the definition has no "rewards": add it/, { rewards: undefined }],
    ['an episode that is no function', /a part "episode" that is no function/, { episode: { messages } }],
  ])('a definition with %s ', (_, message, parts) => {
    const definition = { ...talk, rewards, episode: () => ({ messages }), ...parts };
    expect(() => defineToolEnv(definition as typeof definition & { rewards: typeof rewards })).toThrow(
      message,
    );
  });

  test('types: parts that no episode has', () => {
    const common = { ...talk, rewards };
    // @ts-expect-error onAnwser
    defineToolEnv({ ...common, episode: () => ({ messages, onAnwser: () => ({ end: 'x' }) }) });
    // @ts-expect-error onToolResult, beside a task
    defineToolEnv({ ...common, episode: ({ task }) => ({ messages: task, onToolResult: again }) });
    // @ts-expect-error tool, in a promise
    defineToolEnv({ ...common, episode: async () => ({ messages, tool: [count] }) });
    // @ts-expect-error limits belong beside the episode.
    defineToolEnv({ ...common, episode: () => ({ messages, limits: { maxTurns: 1 } }) });
    // @ts-expect-error message
    defineToolEnv({ ...common, episode: ({ task }) => ({ message: task }) });
  });
});
