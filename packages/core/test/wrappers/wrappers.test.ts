/** Each wrapper on its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertConforms, checkTrajectory } from '@toolenv/testing';
import { toTrainingRows } from '@toolenv/training';
import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, test, vi } from 'vitest';
import {
  type Env,
  type EnvHandle,
  EpisodeStatistics,
  scriptedPolicy,
  type Tool,
  ToolEnvError,
  type Trajectory,
  text,
  weigh,
} from '../../src/index.ts';
import { encodeTrajectory, readTrajectories } from '../../src/recording/index.ts';
import {
  type RewardTransform,
  recordEpisodeStatistics,
  recordEpisodes,
  timeLimit,
  transformObservation,
  transformReward,
  truncateHistory,
  windowObservation,
} from '../../src/wrappers/index.ts';
import { climb, LadderEnv, ladderSpec, openLadder, type Rung } from '../ladder-env.ts';
import { answer, calling, climber, contents, play, start } from '../ladder-play.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-wrappers-'));
});
afterAll(() => rm(folder, { recursive: true }));

afterEach(() => {
  vi.useRealTimers();
});

test('a wrapper returns the same interface as it was given', () => {
  const open = { ...openLadder(), ref: 'p/ladder-v1', packageVersion: '1.2.3' };
  const wrapped = timeLimit(open, { turns: 2 });
  expectTypeOf(wrapped).toEqualTypeOf<EnvHandle<Rung>>();
  expect(wrapped).toMatchObject({ tasks: open.tasks, ref: 'p/ladder-v1', packageVersion: '1.2.3' });
  const one = timeLimit(new LadderEnv(), { turns: 2 });
  expectTypeOf(one).toEqualTypeOf<Env<Rung>>();
});

describe('timeLimit', () => {
  test('truncates after its turns and scores 0 in unscored components', async () => {
    const env = timeLimit(new LadderEnv(), { turns: 2 });
    expect(env.spec.limits.maxTurns).toBe(2);
    for (let episode = 0; episode < 2; episode++) {
      await env.reset(start);
      expect((await env.step(calling(1))).outcome.kind).toBe('running');
      expect(await env.step(calling(1))).toMatchObject({
        rewards: { climbed: 1, right: 0, close: 0 },
        outcome: { kind: 'truncated', reason: 'max_turns' },
        calls: [{ text: 'climbed 1' }],
      });
      await expect(env.step(answer)).rejects.toMatchObject({ code: 'bug.step_after_end' });
    }
  });

  test('keeps the environment’s own end on the last turn', async () => {
    const env = timeLimit(new LadderEnv(), { turns: 2 });
    await env.reset(start);
    await env.step(calling(3));
    expect(await env.step(answer)).toMatchObject({ rewards: { right: 1 }, outcome: { kind: 'terminated' } });
    expect(timeLimit(new LadderEnv(), { turns: 99 }).spec.limits.maxTurns).toBe(6);
  });

  test('abandons a running step when the time is over', async () => {
    let stopped = false;
    const hang: Tool = {
      ...climb,
      execute: (_, { signal }) => {
        signal.addEventListener('abort', () => {
          stopped = true;
        });
        return new Promise(() => {});
      },
    };
    vi.useFakeTimers();
    const env = timeLimit(new LadderEnv(hang, { toolTimeout: 60_000 }), { milliseconds: 30 });
    await env.reset(start);
    const step = env.step(calling(1));
    await vi.advanceTimersByTimeAsync(29);
    expect(stopped).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const transition = await step;
    expect(transition).toMatchObject({
      rewards: { right: 0, close: 0 },
      outcome: { kind: 'truncated', reason: 'deadline' },
      calls: [],
    });
    expect(contents(transition.observation)).toEqual(['user: Climb to 3.']);
    expect(stopped).toBe(true);
  });

  test('includes the policy’s time and starts again at each reset', async () => {
    let executed = 0;
    const counting: Tool = {
      ...climb,
      async execute() {
        executed += 1;
        return text('');
      },
    };
    vi.useFakeTimers();
    const env = timeLimit(new LadderEnv(counting), { milliseconds: 40 });
    await env.reset(start);
    await vi.advanceTimersByTimeAsync(41);
    expect((await env.step(calling(1))).outcome).toEqual({ kind: 'truncated', reason: 'deadline' });
    expect(executed).toBe(0);
    await env.reset(start);
    expect((await env.step(calling(1))).outcome.kind).toBe('running');
    expect(executed).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('passes faults and aborts on unchanged', async () => {
    const broken: Tool = { ...climb, execute: () => Promise.reject(new Error('boom')) };
    const env = timeLimit(new LadderEnv(broken), { turns: 1, milliseconds: 1000 });
    await env.reset(start);
    const transition = await env.step(calling(1));
    expect(transition.outcome.kind).toBe('aborted');
    expect(transition.rewards).toBeUndefined();
    const reason = new Error('stop');
    await env.reset(start);
    await expect(env.step(answer, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test('refuses limits that are not above 0', () => {
    for (const limit of [{ turns: 0 }, { milliseconds: 0 }, { turns: Number.NaN }]) {
      expect(() => timeLimit(new LadderEnv(), limit)).toThrow(/timeLimit: turns is .* give numbers above 0/);
    }
  });
});

describe('transformReward', () => {
  const shaped: RewardTransform = {
    rewards: {
      ...ladderSpec.rewards,
      thrift: { kind: 'process', range: [-1, 0], weight: 2 },
      solved: { kind: 'outcome', range: [0, 3], weight: 1 },
    },
    transform: ({ right = null, ...rest }, { calls }) => ({
      ...rest,
      right,
      thrift: -calls.length / 4,
      solved: right === null ? null : 3 * right,
    }),
  };

  test('declares new components and scores each step with them', async () => {
    const env = transformReward(new LadderEnv(), shaped);
    expect(env.spec.rewards).toBe(shaped.rewards);
    await env.reset(start);
    expect((await env.step(calling(3))).rewards).toEqual({
      climbed: 1,
      right: null,
      thrift: -0.25,
      solved: null,
    });
    const { rewards } = await env.step(answer);
    expect(rewards).toEqual({ right: 1, thrift: -0, solved: 3 });
    expect(weigh(env.spec.rewards, rewards!)).toBe(4);
  });

  test('puts transformed rewards into the trajectory and refuses undeclared rewards', async () => {
    const [trajectory] = await play(transformReward(openLadder(), shaped), climber(), [2]);
    // Two calls at −0.25 with weight 2; 0.1 for each of two climbs; 1 and 3 for the answer.
    expect(trajectory!.reward).toBeCloseTo(-1 + 0.2 + 1 + 3, 12);
    expect(trajectory!.rewardSpec).toBe(shaped.rewards);
    const undeclared = transformReward(openLadder(), { rewards: {}, transform: () => ({ bonus: 1 }) });
    await expect(play(undeclared, climber(), [1])).rejects.toMatchObject({ code: 'bug.environment' });
  });

  test('does not transform an aborted step', async () => {
    const broken: Tool = { ...climb, execute: () => Promise.reject(new Error('boom')) };
    const transform = () => {
      throw new Error('called');
    };
    const env = transformReward(new LadderEnv(broken), { rewards: {}, transform });
    await env.reset(start);
    expect((await env.step(calling(1))).rewards).toBeUndefined();
  });
});

describe('what the policy sees', () => {
  test('transformObservation rewrites each observation and may be asynchronous', async () => {
    const env = transformObservation(new LadderEnv(), async ({ messages, tools }) => {
      await sleep(1);
      return {
        messages: [{ role: 'system', content: `${messages.length} so far` }, messages.at(-1)!],
        tools,
      };
    });
    expect(contents(await env.reset(start))).toEqual(['system: 1 so far', 'user: Climb to 3.']);
    expect(contents((await env.step(calling(1))).observation)).toEqual([
      'system: 3 so far',
      'tool: climbed 1',
    ]);
  });

  test('windowObservation keeps the task and the last turns', async () => {
    const env = windowObservation(new LadderEnv(), { turns: 2 });
    await env.reset(start);
    const seen = [];
    for (const rungs of [1, 2, 3]) seen.push(contents((await env.step(calling(rungs))).observation));
    expect(seen[1]).toEqual([
      'user: Climb to 3.',
      'assistant: ',
      'tool: climbed 1',
      'assistant: ',
      'tool: climbed 2',
    ]);
    expect(seen[2]).toEqual([
      'user: Climb to 3.',
      'assistant: ',
      'tool: climbed 2',
      'assistant: ',
      'tool: climbed 3',
    ]);
  });

  test('windowObservation appends a summary of dropped turns to the task', async () => {
    const env = windowObservation(new LadderEnv(), {
      turns: 1,
      summarize: async (dropped) => `Before: ${dropped.filter(({ role }) => role === 'tool').length} climbs.`,
    });
    await env.reset(start);
    await env.step(calling(1));
    await env.step(calling(2));
    const { observation } = await env.step(calling(3));
    expect(contents(observation)).toEqual([
      'user: Climb to 3.\n\nBefore: 2 climbs.',
      'assistant: ',
      'tool: climbed 3',
    ]);
    const none = windowObservation(new LadderEnv(), {
      turns: 0,
      summarize: (dropped) => `${dropped.length}`,
    });
    await none.reset(start);
    expect(contents((await none.step(calling(1))).observation)).toEqual(['user: Climb to 3.\n\n2']);
    expect(() => windowObservation(new LadderEnv(), { turns: -1 })).toThrow('whole number of at least 0');
  });

  test('truncateHistory cuts the oldest results first and never results of the last turn', async () => {
    const wordy: Tool = { ...climb, execute: async ({ rungs }) => text(String(rungs).repeat(40)) };
    const env = truncateHistory(new LadderEnv(wordy), { characters: 100 });
    await env.reset(start);
    const lengths = [];
    let last: string[] = [];
    for (const rungs of [1, 2, 3]) {
      const { observation } = await env.step(calling(rungs));
      lengths.push(observation.messages.reduce((total, { content }) => total + content.length, 0));
      last = contents(observation);
    }
    // The task has 11 characters, each result 40, each note 19.
    expect(lengths).toEqual([51, 91, 89]);
    expect(last).toEqual([
      'user: Climb to 3.',
      'assistant: ',
      'tool: [40 characters cut]',
      'assistant: ',
      'tool: [40 characters cut]',
      'assistant: ',
      `tool: ${'3'.repeat(40)}`,
    ]);
    const tight = truncateHistory(new LadderEnv(wordy), { characters: 1 });
    await tight.reset(start);
    expect(contents((await tight.step(calling(7))).observation).at(-1)).toBe(`tool: ${'7'.repeat(40)}`);
  });
});

describe('records of episodes', () => {
  const failing = () => {
    const broken: Tool = {
      ...climb,
      execute: async ({ rungs }) => {
        if (rungs === 5) throw new Error('boom');
        return text('');
      },
    };
    return openLadder(() => new LadderEnv(broken));
  };
  /** Goal 1: right after two turns. Goal 2: wrong after a mistake. Goal 5: the tool fails. Goal 6: the context overflows. */
  const mixed = () =>
    scriptedPolicy(({ messages }, turn) => {
      const goal = Number(/\d+/.exec(messages[0]!.content));
      if (goal === 6 && turn === 1) throw new ToolEnvError('context.overflow', 'full');
      if (turn > 1 || (goal === 1 && turn > 0)) return 'done';
      return [
        { name: goal === 2 && turn === 0 ? 'clim' : 'climb', arguments: { rungs: goal === 2 ? 9 : goal } },
      ];
    });

  test('recordEpisodes writes the same trajectories as the rollout yields', async () => {
    const file = join(folder, 'episodes.jsonl');
    const env = { ...failing(), ref: 'p/ladder-v1', packageVersion: '1.2.3' };
    const played = await play(recordEpisodes(env, file), mixed(), [1, 2, 5, 6]);
    const recorded: Trajectory[] = [];
    for await (const trajectory of readTrajectories(file)) {
      await assertConforms(checkTrajectory(trajectory));
      recorded.push(trajectory);
    }
    recorded.sort((a, b) => (a.episodeId < b.episodeId ? -1 : 1));
    const plain = (trajectory: Trajectory) => JSON.parse(encodeTrajectory(trajectory));
    for (const [i, trajectory] of recorded.slice(0, 3).entries()) {
      const { index, group } = trajectory;
      expect(plain(trajectory)).toEqual({ ...plain(played[i]!), policy: 'unknown', index, group });
    }
    expect(recorded.map(({ reward }) => reward)).toEqual([1.1, 0.1, null, null]);
    expect(recorded.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3]);
    // The rollout truncates this episode; its environment only sees that it is left.
    expect(recorded[3]).toMatchObject({
      env: 'p/ladder-v1',
      envVersion: '1.2.3',
      outcome: { kind: 'aborted', cause: { code: 'infrastructure.episode_left' } },
      steps: [{ rewards: { climbed: 1 } }],
      rewards: { climbed: null, right: null },
    });
    expect(toTrainingRows(recorded[3]!)).toEqual([]);
  });

  test('recordEpisodeStatistics keeps running means', async () => {
    const statistics = new EpisodeStatistics();
    expect(statistics).toMatchObject({ episodes: 0, reward: null, turns: null, rewards: {} });
    await play(recordEpisodeStatistics(failing(), statistics), mixed(), [1, 2, 5, 6, 1]);
    expect(statistics).toMatchObject({ episodes: 3, aborted: 1, unfinished: 1 });
    expect(statistics.reward).toBeCloseTo((1.1 + 0.1 + 1.1) / 3, 12);
    expect(statistics.rewards.right).toBeCloseTo(2 / 3, 12);
    expect(statistics.rewards).not.toHaveProperty('close');
    expect(statistics.turns).toBeCloseTo(7 / 3, 12);
    expect(statistics.calls).toBeCloseTo(4 / 3, 12);
    expect(statistics.mistakes).toBeCloseTo(1 / 3, 12);
  });

  test('counts an episode that a reset ends as unfinished, once', async () => {
    const statistics = new EpisodeStatistics();
    const env = recordEpisodeStatistics(new LadderEnv(), statistics);
    await env.close();
    await env.reset(start);
    await env.step(calling(1));
    await env.reset(start);
    await env.step(answer);
    await env.close();
    expect(statistics).toMatchObject({ episodes: 1, unfinished: 1, turns: 1 });
  });
});
