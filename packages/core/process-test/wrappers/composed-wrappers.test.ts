/** Composed wrappers: in rollouts, under the conformance kit, and as training rows. */
import { assertConforms, checkEnv } from '@toolenv/testing';
import { toTrainingRows } from '@toolenv/training';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { climbing, ladderDefinition } from '../../../testing/test/env/broken-envs.ts';
import {
  type Env,
  type EnvHandle,
  EpisodeStatistics,
  type Message,
  type Policy,
  type RewardSpec,
  type Rewards,
  type ScoredTransition,
  type Tool,
  type Trajectory,
  text,
} from '../../src/index.ts';
import {
  type RewardTransform,
  recordEpisodeStatistics,
  timeLimit,
  transformReward,
  truncateHistory,
  watchEpisodes,
  windowObservation,
} from '../../src/wrappers/index.ts';
import { climb, LadderEnv, openLadder, type Rung } from '../../test/ladder-env.ts';
import { calling, climber, contents, play, start } from '../../test/ladder-play.ts';

describe('in both orders', () => {
  const pays: RewardTransform = {
    rewards: {
      turn: { kind: 'process', range: [0, 1], weight: 1 },
      left: { kind: 'outcome', range: [-1, 1], weight: 1 },
    },
    transform: ({ right }, { outcome }) => ({
      turn: 1,
      left: outcome.kind === 'truncated' ? -1 : (right ?? null),
    }),
  };

  test('a reward transform sees a truncation only if it wraps the limit', async () => {
    const inside = timeLimit(transformReward(openLadder(), pays), { turns: 2 });
    const outside = transformReward(timeLimit(openLadder(), { turns: 2 }), pays);
    const [a, b] = [await play(inside, climber(), [5]), await play(outside, climber(), [5])];
    expect(a[0]).toMatchObject({
      outcome: { reason: 'max_turns' },
      rewards: { turn: 2, left: 0 },
      reward: 2,
    });
    expect(b[0]).toMatchObject({
      outcome: { reason: 'max_turns' },
      rewards: { turn: 2, left: -1 },
      reward: 1,
    });
  });

  test('history is truncated before the window is taken, or within the window', async () => {
    const wordy: Tool = { ...climb, execute: async ({ rungs }) => text(String(rungs).repeat(40)) };
    const summarize = (dropped: readonly Message[]) =>
      dropped.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])).join(' ');
    const open = () => new LadderEnv(wordy);
    const cutFirst = windowObservation(truncateHistory(open(), { characters: 60 }), { turns: 1, summarize });
    const drawnFirst = truncateHistory(windowObservation(open(), { turns: 1, summarize }), {
      characters: 60,
    });
    const last = async (env: Env<Rung>) => {
      await env.reset(start);
      await env.step(calling(1));
      return contents((await env.step(calling(2))).observation);
    };
    const turn = ['assistant: ', `tool: ${'2'.repeat(40)}`];
    expect(await last(cutFirst)).toEqual(['user: Climb to 3.\n\n[40 characters cut]', ...turn]);
    expect(await last(drawnFirst)).toEqual([`user: Climb to 3.\n\n${'1'.repeat(40)}`, ...turn]);
  });

  test('statistics contain the rewards of the environment that they wrap', async () => {
    const [raw, shaped] = [new EpisodeStatistics(), new EpisodeStatistics()];
    const watchedFirst = transformReward(recordEpisodeStatistics(openLadder(), raw), pays);
    const watchedLast = recordEpisodeStatistics(transformReward(openLadder(), pays), shaped);
    await play(watchedFirst, climber(), [1, 2]);
    await play(watchedLast, climber(), [1, 2]);
    expect(raw.reward).toBeCloseTo((1.1 + 1.2) / 2, 12);
    expect(shaped.reward).toBe((3 + 4) / 2);
  });
});

afterEach(() => void vi.useRealTimers());

test('an abandoned step does not count in the next episode', async () => {
  vi.useFakeTimers();
  let answer: () => void = () => {};
  const slow: Tool = {
    ...climb,
    execute: () =>
      new Promise((resolve) => {
        answer = () => resolve(text('late'));
      }),
  };
  const seen: Trajectory[] = [];
  // Ignores its signal.
  const stubborn: Env<Rung> = new LadderEnv(slow, { toolTimeout: 60_000 });
  const step = stubborn.step.bind(stubborn);
  stubborn.step = (action) => step(action);
  const env = timeLimit(
    watchEpisodes(stubborn, (trajectory) => void seen.push(trajectory)),
    { milliseconds: 30 },
  );
  await env.reset(start);
  const late = env.step(calling(1));
  await vi.advanceTimersByTimeAsync(30);
  expect((await late).outcome).toMatchObject({ reason: 'deadline' });
  await env.reset(start);
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect((await env.step({ ...calling(1), stopReason: 'length' })).outcome.kind).toBe('truncated');
  expect(seen.map(({ steps }) => steps.length)).toEqual([0, 1]);
});

describe('a wrapped environment keeps every rule', () => {
  const wraps: [name: string, wrapped: (open: EnvHandle<Rung>) => EnvHandle<Rung>][] = [
    ['timeLimit', (open) => timeLimit(open, { turns: 4, milliseconds: 60_000 })],
    ['windowObservation', (open) => windowObservation(open, { turns: 1, summarize: () => 'Some turns.' })],
    ['truncateHistory', (open) => truncateHistory(open, { characters: 30 })],
    ['watchEpisodes', (open) => watchEpisodes(open, () => {})],
    [
      'all of them',
      (open) =>
        truncateHistory(
          windowObservation(
            watchEpisodes(timeLimit(open, { milliseconds: 60_000 }), () => {}),
            { turns: 2 },
          ),
          { characters: 80 },
        ),
    ],
  ];
  const options = { tools: climbing, timeout: 500, actions: 150 };
  test.each(wraps)('%s', async (_, open) => {
    const { passed } = await assertConforms(checkEnv(ladderDefinition({ open }), options));
    expect(passed.length).toBe(39);
  });

  test('transformReward', async () => {
    const rewards: RewardSpec = {
      won: { kind: 'outcome', range: [0, 2], weight: 1 },
      calls: { kind: 'process', range: [-6, 0], weight: 0.01 },
    };
    const transform = ({ right = null }: Rewards, { calls }: ScoredTransition) => ({
      won: right === null ? null : 2 * right,
      calls: -calls.length,
    });
    const open = (good: EnvHandle<Rung>) => transformReward(good, { rewards, transform });
    const { passed } = await assertConforms(
      checkEnv(ladderDefinition({ definition: { rewards }, open }), options),
    );
    expect(passed.length).toBe(39);
  });
});

test('wrappers compose, and each sees the environment that it wraps', async () => {
  const inside = new EpisodeStatistics();
  const outside = new EpisodeStatistics();
  const env = recordEpisodeStatistics(
    timeLimit(
      transformReward(
        windowObservation(recordEpisodeStatistics(openLadder(), inside), {
          turns: 1,
          summarize: (dropped) => `${dropped.length} messages before.`,
        }),
        {
          rewards: {
            steps: { kind: 'process', range: [-1, 0], weight: 1 },
            done: { kind: 'outcome', range: [0, 1], weight: 10 },
          },
          transform: ({ right = null }) => ({ steps: -1, done: right }),
        },
      ),
      { turns: 3 },
    ),
    outside,
  );
  const played = await play(env, climber(), [1, 2, 3, 4]);
  // The answer comes in turn goal + 1, so only goals 1 and 2 are answered within three turns.
  expect(played.map(({ outcome }) => ('reason' in outcome ? outcome.reason : ''))).toEqual([
    'answered',
    'answered',
    'max_turns',
    'max_turns',
  ]);
  expect(played.map(({ reward }) => reward)).toEqual([-2 + 10, -3 + 10, -3, -3]);
  expect(contents(played[2]!.steps[2]!.observation)).toEqual([
    'user: Climb to 3.\n\n2 messages before.',
    'assistant: ',
    'tool: climbed 1',
  ]);
  expect(outside).toMatchObject({ episodes: 4, unfinished: 0, reward: (8 + 7 - 3 - 3) / 4 });
  // The limit is outside these statistics, which see two episodes that were left.
  expect(inside).toMatchObject({ episodes: 2, unfinished: 2 });
});

test('an aborted episode has no reward and no rows, even in wrappers', async () => {
  const broken: Tool = { ...climb, execute: () => Promise.reject(new Error('boom')) };
  const paid = transformReward(
    openLadder(() => new LadderEnv(broken)),
    {
      rewards: {
        turn: { kind: 'process', range: [0, 1], weight: 1 },
        done: { kind: 'outcome', range: [0, 1], weight: 1 },
      },
      transform: () => ({ turn: 1, done: 1 }),
    },
  );
  const env = windowObservation(timeLimit(paid, { turns: 1, milliseconds: 60_000 }), { turns: 0 });
  const [trajectory] = await play(env, climber(), [2]);
  expect(trajectory).toMatchObject({
    outcome: { kind: 'aborted', cause: { code: 'infrastructure.tool_failed' } },
    rewards: { turn: null, done: null },
    reward: null,
  });
  expect(toTrainingRows(trajectory!)).toEqual([]);
});

describe('training rows', () => {
  /** Its tokens are the characters of the messages, so that appending to a conversation extends the prompt. */
  function tokenPolicy(): Policy {
    const codes = (written: string) => Int32Array.from(written, (character) => character.codePointAt(0)!);
    const turns = new Map<string, number>();
    return {
      spec: { name: 'characters', contextLength: 10_000 },
      async act({ messages }, { episodeId = '' }) {
        const turn = turns.get(episodeId) ?? 0;
        turns.set(episodeId, turn + 1);
        const said = turn < 3 ? `climb ${turn}` : 'done';
        const action = codes(`${said};`);
        const prompt = codes(
          `${messages.map(({ role, content }) => `<${role}>${content};`).join('')}<assistant>`,
        );
        const toolCalls = turn < 3 ? calling(1).toolCalls : [];
        const logprobs = new Float32Array(action.length).fill(-0.5);
        return {
          text: said,
          toolCalls,
          stopReason: turn < 3 ? 'tool_call' : 'stop',
          tokens: { prompt, action, logprobs },
        };
      },
    };
  }
  const rowsOf = async (env: EnvHandle<Rung>) => {
    const [trajectory] = await play(env, tokenPolicy(), [3]);
    const rows = toTrainingRows(trajectory!);
    const text = rows.map(({ tokens }) => String.fromCodePoint(...tokens));
    const learned = rows.map(({ tokens, mask }) =>
      String.fromCodePoint(...tokens.filter((_, i) => mask[i] === 1)),
    );
    const rewards = rows.map((row) => row.rewards.reduce((total, value) => total + value, 0));
    return { trajectory: trajectory!, text, learned, rewards };
  };

  test('a context that only grows makes one row', async () => {
    const { learned, rewards } = await rowsOf(openLadder());
    expect(learned).toEqual(['climb 0;climb 1;climb 2;done;']);
    expect(rewards[0]).toBeCloseTo(1.3, 6);
  });

  test('a window starts a new row whenever it moves, and each action and reward is in one row', async () => {
    const { trajectory, text, learned, rewards } = await rowsOf(
      windowObservation(openLadder(), { turns: 1 }),
    );
    // The window moves at the end of the second turn and of the third.
    expect(learned).toEqual(['climb 0;climb 1;', 'climb 2;', 'done;']);
    expect(text[1]).toBe('<user>Climb to 3.;<assistant>climb 1;<tool>climbed 1;<assistant>climb 2;');
    expect(rewards.map((value) => Number(value.toFixed(6)))).toEqual([0.2, 0.1, 1]);
    expect(rewards.reduce((total, value) => total + value, 0)).toBeCloseTo(trajectory.reward!, 6);
  });

  test('a summary starts a new row as soon as there is one', async () => {
    const summarize = (dropped: readonly Message[]) => `${dropped.length / 2} climbs.`;
    const { text, learned } = await rowsOf(windowObservation(openLadder(), { turns: 0, summarize }));
    expect(learned).toEqual(['climb 0;', 'climb 1;', 'climb 2;', 'done;']);
    expect(text[3]).toBe('<user>Climb to 3.\n\n3 climbs.;<assistant>done;');
  });

  test('truncated history starts a new row only if something was cut', async () => {
    const wordy: Tool = { ...climb, execute: async () => text('y'.repeat(50)) };
    const make = () => openLadder(() => new LadderEnv(wordy));
    // 11 + 3 · 57 characters in all. A limit of 200 cuts nothing; a limit of 150 cuts one result after the third turn.
    expect((await rowsOf(truncateHistory(make(), { characters: 200 }))).learned).toHaveLength(1);
    expect((await rowsOf(truncateHistory(make(), { characters: 150 }))).learned).toEqual([
      'climb 0;climb 1;climb 2;',
      'done;',
    ]);
  });
});
