import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type Action,
  collect,
  createRng,
  defineEnv,
  type EpisodeRequest,
  openEnv,
  type Policy,
  type RolloutOptions,
  rollout,
  running,
  type SamplingOptions,
  scriptedPolicy,
  ToolEnvError,
  type Trajectory,
  terminated,
  text,
} from '../../src/index.ts';
import { decodeTrajectory, encodeTrajectory } from '../../src/recording/index.ts';
import { timeLimit } from '../../src/wrappers/index.ts';
import { climb, LadderEnv, ladderLimits, ladderSpec, openLadder, type Rung } from '../ladder-env.ts';

const sampling = { maxTokens: 64, temperature: 1 };
/** Climbs one rung at a time to the goal, then answers. */
const climber = () =>
  scriptedPolicy(({ messages }, turn) =>
    turn < Number(/\d+/.exec(messages[0]!.content)) ? [{ name: 'climb', arguments: { rungs: 1 } }] : 'done',
  );

function plan(count: number, size = 2): EpisodeRequest<Rung>[] {
  return Array.from({ length: count }, (_, i) => ({
    task: { goal: 1 + (Math.floor(i / size) % 4) },
    group: Math.floor(i / size),
    sample: i % size,
  }));
}

function options(over: Partial<RolloutOptions<Rung>> = {}): RolloutOptions<Rung> {
  return {
    env: openLadder(),
    policy: climber(),
    episodes: plan(6),
    concurrency: 3,
    sampling,
    seed: 7,
    ...over,
  };
}

/** Acts as `act` says, and keeps count of episodes ended. */
function acting(
  act: (options: SamplingOptions, turn: number) => Promise<Action>,
): Policy & { ended: string[] } {
  const turns = new Map<string, number>();
  const ended: string[] = [];
  return {
    ended,
    spec: { name: 'acting', contextLength: 100 },
    act(_, given) {
      const turn = turns.get(given.episodeId!) ?? 0;
      turns.set(given.episodeId!, turn + 1);
      return act(given, turn);
    },
    endEpisode: (episodeId) => void ended.push(episodeId),
  };
}

const one: Action = {
  text: '',
  toolCalls: [{ id: 'c', name: 'climb', arguments: { rungs: 1 } }],
  stopReason: 'tool_call',
};
const hang = () => new Promise<never>(() => {});

const unhandled = vi.fn();
beforeEach(() => void process.on('unhandledRejection', unhandled));
afterEach(async () => {
  await sleep(0);
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

test('a trajectory records its steps and sums its components', async () => {
  const env = openLadder();
  const [trajectory] = await collect(
    rollout(options({ env, episodes: [{ task: { goal: 2 }, group: 4, sample: 1 }] })),
  );
  expect(trajectory).toMatchObject({
    version: 1,
    env: 'ladder-v1',
    policy: 'scripted',
    episodeId: '7-4-1',
    index: 0,
    group: 4,
    sample: 1,
    task: { goal: 2 },
    outcome: { kind: 'terminated', reason: 'answered' },
    rewards: { right: 1, close: null, climbed: 2 },
    reward: 1.2,
  });
  expect(trajectory!.steps.map(({ calls }) => calls.length)).toEqual([1, 1, 0]);
  expect(trajectory!.steps[1]!.observation.messages).toHaveLength(3);
  expect(env).toMatchObject({ opened: 1, closed: 1 });
});

test('arguments that nest too deeply are kept as a parse failure, so that the trajectory can be written', async () => {
  const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`);
  const policy = scriptedPolicy((_, turn) =>
    turn === 0 ? [{ name: 'climb', arguments: { rungs: 1, deep } }] : 'done',
  );
  const [trajectory] = await collect(rollout(options({ policy, episodes: plan(1) })));
  expect(trajectory!.steps[0]!.action.toolCalls).toEqual([
    {
      parseFailure: 'Give arguments of at most 64 levels of arrays and objects.',
      text: 'climb with a value with more than 64 levels',
    },
  ]);
  expect(trajectory!.steps[0]!.calls[0]!.mistake!.code).toBe('malformed_call');
  expect(decodeTrajectory(encodeTrajectory(trajectory!)).steps).toHaveLength(2);
});

test('trajectories do not depend on concurrency or on each other’s timing', async () => {
  const jitter = createRng(Math.floor(Math.random() * 1e9));
  const noisy = () =>
    acting(async ({ seed }, turn) => {
      await sleep(jitter.int(4));
      const rng = createRng(seed);
      if (turn > 0 && rng.float() < 0.4) return { text: `answer ${seed}`, toolCalls: [], stopReason: 'stop' };
      return { ...one, toolCalls: [{ id: 'c', name: 'climb', arguments: { rungs: 1 + rng.int(3) } }] };
    });
  const random = {
    ...climb,
    execute: async (_: unknown, { rng }: { rng: { float(): number } }) => text(`${rng.float()}`),
  };
  const play = async (concurrency: number) => {
    const env = openLadder(() => new LadderEnv(random));
    const all = await collect(rollout(options({ env, policy: noisy(), episodes: plan(24), concurrency })));
    return JSON.stringify(all, (key, value) => (key === 'milliseconds' ? 0 : value));
  };
  const alone = await play(1);
  expect(await play(5)).toBe(alone);
  expect(await play(100)).toBe(alone);
  expect(new Set(JSON.parse(alone).map(({ seed }: { seed: number }) => seed)).size).toBe(24);
});

test('the window slides: a slow episode holds up no other, and no more than `concurrency` run', async () => {
  let [active, most] = [0, 0];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const policy = acting(async ({ episodeId }) => {
    most = Math.max(most, ++active);
    await (episodeId === '7-0-0' ? released : sleep(2));
    active -= 1;
    return { text: 'done', toolCalls: [], stopReason: 'stop' };
  });
  const finished: number[] = [];
  for await (const { index } of rollout(options({ policy, episodes: plan(12), concurrency: 3 }))) {
    finished.push(index);
    if (finished.length === 11) release();
  }
  expect(finished).toHaveLength(12);
  expect(finished.at(-1)).toBe(0);
  expect(most).toBe(3);
});

test('a policy that uses its arrays again, and shortens what it is shown, changes no record', async () => {
  const tokens = {
    prompt: Int32Array.of(0),
    action: Int32Array.of(0),
    logprobs: Float32Array.of(0),
  };
  const policy: Policy = {
    spec: { name: 'thrifty', contextLength: 100 },
    async act({ messages, tools }) {
      const turn = messages.length;
      for (const array of Object.values(tokens)) array[0] = array instanceof Float32Array ? -turn : turn;
      messages.splice(0);
      tools.splice(0);
      return turn < 3 ? { ...one, tokens } : { text: 'done', toolCalls: [], stopReason: 'stop', tokens };
    },
  };
  const [{ steps }] = (await collect(rollout(options({ policy, episodes: plan(1) })))) as [Trajectory];
  expect(steps.map(({ observation: { messages, tools } }) => [messages.length, tools.length])).toEqual([
    [1, 1],
    [3, 1],
  ]);
  const recorded = steps.map(({ action }) => Object.values(action.tokens!).flatMap((array) => [...array]));
  expect(recorded).toEqual([
    [1, 1, -1],
    [3, 3, -3],
  ]);
});

test('reads a generator only as slots become free', async () => {
  let drawn = 0;
  function* endless(): Generator<EpisodeRequest<Rung>> {
    for (;;) yield { task: { goal: 1 }, group: drawn++, sample: 0 };
  }
  const env = openLadder();
  const policy = climber();
  let read = 0;
  for await (const _ of rollout(options({ env, policy, episodes: endless(), concurrency: 4 })))
    if (++read === 5) break;
  expect(drawn).toBeLessThanOrEqual(9);
  expect(env.closed).toBe(env.opened);
});

test('an episode that takes too long is aborted, and not played again', async () => {
  const env = openLadder();
  const policy = acting((_, turn) => (turn < 2 ? Promise.resolve(one) : hang()));
  const played = rollout(options({ env, policy, episodes: plan(1), deadline: 50, retries: 3 }));
  const [trajectory] = await collect(played);
  expect(trajectory).toMatchObject({
    outcome: {
      kind: 'aborted',
      retryable: false,
      cause: {
        code: 'infrastructure.deadline',
        message: 'The episode took longer than 50 ms: remove what makes it slow, or give a longer deadline.',
      },
    },
    rewards: { right: null, close: null, climbed: null },
    reward: null,
  });
  expect(trajectory!.steps).toHaveLength(2);
  expect(env.opened).toBe(1);
  expect(policy.ended).toEqual(['7-0-0']);
});

test('a deadline during act keeps the earlier steps and scores 0', async () => {
  const policy = acting((_, turn) => (turn < 2 ? Promise.resolve(one) : hang()));
  const env = openLadder();
  const [trajectory] = await collect(
    rollout(options({ env, policy, episodes: plan(1), deadline: 250, onDeadline: 'truncate' })),
  );
  expect(trajectory).toMatchObject({
    outcome: { kind: 'truncated', reason: 'deadline' },
    rewards: { right: 0, close: 0, climbed: 2 },
    reward: 0.2,
  });
  expect(trajectory!.steps.map(({ rewards }) => rewards)).toEqual([
    { climbed: 1 },
    { climbed: 1, right: 0, close: 0 },
  ]);
  expect(env.closed).toBe(1);
  expect(policy.ended).toEqual(['7-0-0']);
});

test('a deadline during a tool call keeps the action, even if the tool ignores its signal', async () => {
  const env = openLadder(() => new LadderEnv({ ...climb, execute: hang }));
  const [trajectory] = await collect(
    rollout(
      options({
        env,
        policy: acting(async () => one),
        episodes: plan(1),
        deadline: 200,
        onDeadline: 'truncate',
      }),
    ),
  );
  expect(trajectory).toMatchObject({ outcome: { kind: 'truncated', reason: 'deadline' }, reward: 0 });
  expect(trajectory!.steps).toMatchObject([{ action: one, calls: [], rewards: { right: 0, close: 0 } }]);
});

test('a deadline before the first turn gives a score without steps', async () => {
  const [trajectory] = await collect(
    rollout(options({ policy: acting(hang), episodes: plan(1), deadline: 5, onDeadline: 'truncate' })),
  );
  expect(trajectory).toMatchObject({ steps: [], rewards: { right: 0, close: 0, climbed: null }, reward: 0 });
});

test('a computation that blocks the event loop does not escape the deadline', async () => {
  const policy = acting(async () => {
    for (const end = performance.now() + 12; performance.now() < end; );
    return one;
  });
  const [trajectory] = await collect(
    rollout(options({ policy, episodes: plan(1), deadline: 6, onDeadline: 'truncate' })),
  );
  expect(trajectory).toMatchObject({ outcome: { reason: 'deadline' }, steps: [{ calls: [] }] });
});

test('a context overflow truncates the episode', async () => {
  const overflow = new ToolEnvError('context.overflow', 'The prompt has 101 tokens; the context holds 100.');
  const policy = acting((_, turn) => (turn < 1 ? Promise.resolve(one) : Promise.reject(overflow)));
  const [trajectory] = await collect(rollout(options({ policy, episodes: plan(1) })));
  expect(trajectory).toMatchObject({
    outcome: { kind: 'truncated', reason: 'context' },
    rewards: { right: 0, close: 0, climbed: 1 },
  });
});

test('retries an infrastructure fault with the same seed, then yields the episode without a reward', async () => {
  const down = new ToolEnvError('infrastructure.gpu', 'The device is gone.');
  const seeds: number[] = [];
  let faults = 1;
  const faulty = () =>
    acting(async ({ seed }, turn) => {
      seeds.push(seed);
      if (turn === 0 && faults-- > 0) throw down;
      return { text: 'done', toolCalls: [], stopReason: 'stop' };
    });
  const env = openLadder();
  const policy = faulty();
  const [healed] = await collect(rollout(options({ env, policy, episodes: plan(1) })));
  expect(healed).toMatchObject({ outcome: { kind: 'terminated' }, reward: 0, episodeId: '7-0-0-retry1' });
  expect(seeds[0]).toBe(seeds[1]);
  expect(policy.ended).toEqual(['7-0-0', '7-0-0-retry1']);

  faults = 9;
  const [lost] = await collect(rollout(options({ env, policy: faulty(), episodes: plan(1), retries: 2 })));
  expect(lost).toMatchObject({
    outcome: { kind: 'aborted', cause: down, retryable: true },
    rewards: { right: null, close: null, climbed: null },
    reward: null,
  });
  expect(faults).toBe(6);
  expect(env.closed).toBe(env.opened);
});

test('faults in reset and step abort too; a fault that is not retryable is not retried', async () => {
  class Down extends LadderEnv {
    override reset(): Promise<never> {
      return Promise.reject(new ToolEnvError('infrastructure.server', 'No connection.'));
    }
  }
  const env = openLadder(() => new Down());
  const [trajectory] = await collect(rollout(options({ env, episodes: plan(1) })));
  expect(trajectory).toMatchObject({ steps: [], outcome: { kind: 'aborted' }, reward: null });
  expect(env).toMatchObject({ opened: 2, closed: 2 });

  const broken = openLadder(() => new LadderEnv({ ...climb, execute: () => Promise.reject(new Error('x')) }));
  const [stepped] = await collect(
    rollout(options({ env: broken, policy: acting(async () => one), episodes: plan(1) })),
  );
  expect(stepped).toMatchObject({ outcome: { cause: { code: 'infrastructure.tool_failed' } } });
  expect(stepped!.steps).toHaveLength(1);
  expect(stepped!.steps[0]!.rewards).toBeUndefined();

  class Gone extends LadderEnv {
    override async step(): Promise<never> {
      const outcome = { kind: 'aborted', cause: new ToolEnvError('infrastructure.x', 'x'), retryable: false };
      return { observation: { messages: [], tools: [] }, calls: [], info: {}, outcome } as never;
    }
  }
  const gone = openLadder(() => new Gone());
  await collect(rollout(options({ env: gone, episodes: plan(1), retries: 5 })));
  expect(gone.opened).toBe(1);
});

test('a bug is thrown by the rollout, which closes every episode', async () => {
  const env = openLadder();
  const policy = acting(async ({ episodeId }) => {
    if (episodeId === '7-1-0') throw new TypeError('undefined is not a function');
    return hang();
  });
  await expect(collect(rollout(options({ env, policy })))).rejects.toThrow('undefined is not a function');
  expect(env).toMatchObject({ opened: 3, closed: 3 });
  expect(policy.ended).toHaveLength(3);
});

test('an undeclared reward is a bug', async () => {
  const onAnswer = () => ({ rewards: { rihgt: 1 }, end: 'answered' });
  const env = openLadder(() => new LadderEnv(climb, {}, { onAnswer }));
  await expect(collect(rollout(options({ env })))).rejects.toMatchObject({
    code: 'bug.environment',
    message: expect.stringMatching(/^ladder-v1 breaks ENV-20: Reward "rihgt" is not declared/),
  });
});

test('an abort throws its reason at any point and closes every episode', async () => {
  for (const where of ['act', 'tool', 'between reads'] as const) {
    const env = openLadder(() => new LadderEnv(where === 'tool' ? { ...climb, execute: hang } : climb));
    const policy = where === 'act' ? acting(hang) : where === 'tool' ? acting(async () => one) : climber();
    const controller = new AbortController();
    const reason = new Error(`stopped in ${where}`);
    const running = async () => {
      for await (const _ of rollout(options({ env, policy, signal: controller.signal }))) {
        controller.abort(reason);
        await sleep(5);
      }
    };
    if (where !== 'between reads') setTimeout(() => controller.abort(reason), 10);
    await expect(running()).rejects.toBe(reason);
    expect(env.closed).toBe(env.opened);
    await expect(collect(rollout(options({ signal: controller.signal })))).rejects.toBe(reason);
  }
});

test('an abort reaches episodes that never wait', async () => {
  const episodes = plan(300_000);
  const signal = AbortSignal.timeout(200);
  const running = async () => {
    for await (const _ of rollout(options({ episodes, signal }))) {
      // Trajectories are not kept.
    }
  };
  await expect(running()).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('leaves no timers and no warnings', async () => {
  const warned = vi.fn();
  process.on('warning', warned);
  const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const signal = new AbortController().signal;
  await collect(rollout(options({ episodes: plan(64), concurrency: 64, deadline: 60_000, signal })));
  await sleep(0);
  process.off('warning', warned);
  expect(warned).not.toHaveBeenCalled();
  // The test runner's own timers may end meanwhile; a leak would be 64 more.
  const after = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  expect(after).toBeLessThanOrEqual(before);
});

test.each([
  [{ concurrency: 0 }, 'rollout: concurrency is 0; give a whole number of at least 1.'],
  [{ concurrency: Number.NaN }, 'concurrency is NaN'],
  [{ sampling: { maxTokens: 0, temperature: 1 } }, 'sampling.maxTokens is 0'],
  [{ sampling: { maxTokens: 1, temperature: -1 } }, 'sampling.temperature is -1'],
  [{ sampling: { ...sampling, topP: 0 } }, 'sampling.topP is 0'],
  [{ sampling: { ...sampling, topK: 0.5 } }, 'sampling.topK is 0.5'],
  [{ sampling: { ...sampling, minP: 2 } }, 'sampling.minP is 2'],
  [
    { sampling: { ...sampling, constrainCalls: 1 as never } },
    'sampling.constrainCalls is 1; give true or false',
  ],
  [{ deadline: 0 }, 'deadline is 0'],
  [{ onDeadline: 'score' as never }, 'onDeadline is score; give abort or truncate'],
  [{ retries: -1 }, 'retries is -1'],
])('%o is refused at the call', (over, message) => {
  expect(() => rollout(options(over))).toThrow(message);
});

test('plays one episode at a time in an environment that is not concurrent', async () => {
  let playing = 0;
  let most = 0;
  const definition = defineEnv<Rung, object>({
    name: 'ladder-v1',
    description: 'Climb.',
    options: { type: 'object' },
    rewards: ladderSpec.rewards,
    limits: ladderLimits,
    capabilities: { concurrent: false },
    roles: {},
    open: async () =>
      openLadder(() => {
        const env = new LadderEnv();
        const [reset, close] = [env.reset.bind(env), env.close.bind(env)];
        env.reset = async (options) => {
          playing += 1;
          most = Math.max(most, playing);
          await sleep(1);
          return reset(options);
        };
        env.close = async () => {
          playing -= 1;
          await close();
        };
        return env;
      }),
  });
  const open = await openEnv(definition);
  const policy = scriptedPolicy(() => 'done');
  const run = { policy, concurrency: 8, sampling: { maxTokens: 1, temperature: 0 }, seed: 1 };
  const episodes = [1, 2, 3, 4].map((goal, group) => ({ task: { goal }, group, sample: 0 }));
  for (const env of [open, timeLimit(open, { turns: 3 })]) {
    const played = await collect(rollout({ ...run, env, episodes }));
    expect(played.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect([most, playing]).toEqual([1, 0]);
  }
});

test('conversations seed their own turns, whatever the order in which they take them', async () => {
  /** Two conversations, whose turns alternate or not. */
  const play = async (order: readonly (string | undefined)[]) => {
    const seen: [string | undefined, number][] = [];
    const policy = acting(async ({ conversation, seed }) => {
      seen.push([conversation, seed]);
      return { text: 'x', toolCalls: [], stopReason: 'stop' };
    });
    const observe = (turn: number) => {
      const conversation = order[turn];
      return {
        messages: [{ role: 'user' as const, content: 'q' }],
        tools: [],
        ...(conversation && { conversation }),
      };
    };
    class Talks extends LadderEnv {
      #turn = 0;
      override reset = async () => {
        this.#turn = 0;
        return observe(0);
      };
      override step = async () => {
        this.#turn += 1;
        const outcome = this.#turn < order.length ? running : terminated('answered');
        return {
          observation: observe(Math.min(this.#turn, order.length - 1)),
          outcome,
          rewards: {},
          calls: [],
          info: {},
          learn: this.#turn > 1,
        };
      };
    }
    const [played] = await collect(
      rollout(options({ env: openLadder(() => new Talks()), policy, episodes: plan(1) })),
    );
    return { seen, steps: played!.steps };
  };
  const one = await play([undefined, 'helper', undefined, 'helper']);
  const other = await play([undefined, undefined, 'helper', 'helper']);
  const seedsOf = ({ seen }: typeof one, name?: string) =>
    seen.filter(([of]) => of === name).map(([, seed]) => seed);
  expect(seedsOf(one)).toEqual(seedsOf(other));
  expect(seedsOf(one, 'helper')).toEqual(seedsOf(other, 'helper'));
  expect(new Set(one.seen.map(([, seed]) => seed)).size).toBe(4);
  expect(one.steps.map(({ observation }) => observation.conversation)).toEqual([
    undefined,
    'helper',
    undefined,
    'helper',
  ]);
  // What is not learned from is recorded.
  expect(one.steps.map(({ learn }) => learn)).toEqual([false, undefined, undefined, undefined]);
});

test('an environment that allows a number of episodes at once has no more in flight', async () => {
  let [now, most] = [0, 0];
  const policy = acting(async () => {
    most = Math.max(most, ++now);
    await sleep(2);
    now -= 1;
    return { text: 'done', toolCalls: [], stopReason: 'stop' };
  });
  const env = { ...openLadder(), capabilities: { concurrent: 2 } };
  await collect(rollout(options({ env, policy, concurrency: 6 })));
  expect(most).toBe(2);
});

test('the stop texts of an observation end its turn, beside those of the run, and are recorded', async () => {
  const stops: unknown[] = [];
  const policy = acting(async ({ stop }, turn) => {
    stops.push(stop);
    return turn < 1 ? one : { text: 'done', toolCalls: [], stopReason: 'stop' };
  });
  const env = openLadder(() => {
    const ladder = new LadderEnv();
    const step = ladder.step.bind(ladder);
    ladder.step = async (...given) => {
      const transition = await step(...given);
      return { ...transition, observation: { ...transition.observation, stop: ['</code>'] } };
    };
    return ladder;
  });
  const episodes = [{ task: { goal: 4 }, group: 0, sample: 0 }];
  const given = { ...sampling, stop: ['END'] };
  const [played] = await collect(rollout(options({ env, policy, episodes, sampling: given })));
  expect(stops).toEqual([['END'], ['END', '</code>']]);
  const { steps } = decodeTrajectory(encodeTrajectory(played!));
  expect(steps.map(({ observation }) => observation.stop)).toEqual([undefined, ['</code>']]);
});
