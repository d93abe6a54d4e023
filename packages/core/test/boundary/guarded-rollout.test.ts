/** The boundary between the loop and environments and policies: what breaks a rule is never scored, and nothing hangs. */
import { expect, test } from 'vitest';
import {
  type Action,
  collect,
  type EnvHandle,
  type Policy,
  type RolloutOptions,
  rollout,
  type Trajectory,
  type Transition,
} from '../../src/index.ts';
import { climb, LadderEnv, openLadder, type Rung } from '../ladder-env.ts';
import { climber } from '../ladder-play.ts';

const hang = () => new Promise<never>(() => {});

function play(
  env: EnvHandle<Rung>,
  options: Partial<RolloutOptions<Rung>> = {},
): Promise<Trajectory<Rung>[]> {
  const episodes = [1, 2].map((goal, group) => ({ task: { goal }, group, sample: 0 }));
  const sampling = { maxTokens: 9, temperature: 1 };
  const common = { policy: climber(), episodes, concurrency: 2, sampling, seed: 1, retries: 0 };
  return collect(rollout({ ...common, env, ...options }));
}

/** A ladder whose transitions are changed. */
function changing(change: (transition: Transition) => unknown): EnvHandle<Rung> {
  return openLadder(() => {
    const env = new LadderEnv();
    const step = env.step.bind(env);
    env.step = async (...given) => change(await step(...given)) as Transition;
    return env;
  });
}

const remote = (env: EnvHandle<Rung>): EnvHandle<Rung> => ({ ...env, capabilities: { remote: true } });

let nested: unknown = 1;
for (let level = 0; level < 10_000; level++) nested = [nested];

const broken: [string, RegExp, (transition: Transition) => unknown][] = [
  [
    'a reward that is a text of a number',
    /ENV-21: Reward "climbed" is "1": give a finite number/,
    (of) => ({ ...of, rewards: { climbed: '1' } }),
  ],
  [
    'a reward of NaN',
    /ENV-21: Reward "climbed" is NaN/,
    (of) => ({ ...of, rewards: { climbed: Number.NaN } }),
  ],
  [
    'a reward beyond its range',
    /ENV-21: Reward "climbed" is 2, outside/,
    (of) => ({ ...of, rewards: { climbed: 2 } }),
  ],
  [
    'an outcome reward at every step',
    /ENV-19: outcome reward "right" is 1 before the end/,
    (of) => ({ ...of, rewards: { right: 1 } }),
  ],
  ['no rewards', /ENV-18: the rewards are missing/, ({ rewards: _, ...of }) => of],
  ['an unknown outcome', /ENV-17: the outcome is "won"/, (of) => ({ ...of, outcome: { kind: 'won' } })],
  [
    'an abortion without a cause of the infrastructure',
    /ENV-17: the outcome is "aborted"/,
    (of) => ({ ...of, outcome: { kind: 'aborted', cause: new Error('x') } }),
  ],
  ['nothing at all', /ENV-17: the outcome is missing/, () => undefined],
  [
    'a null message',
    /ENV-14: the role of message 0 is missing/,
    (of) => ({ ...of, observation: { messages: [null], tools: [] } }),
  ],
  [
    'a content of blocks',
    /ENV-14: the content of message 0 is an array/,
    (of) => ({ ...of, observation: { messages: [{ role: 'user', content: [] }], tools: [] } }),
  ],
  [
    'a tool without a schema',
    /ENV-14: the tool "x" has no inputSchema/,
    (of) => ({ ...of, observation: { ...of.observation, tools: [{ name: 'x', description: 'x' }] } }),
  ],
  [
    'info that nests too deep',
    /ENV-16: the info of the step cannot be kept as JSON: it nests more than 64 levels deep\.$/,
    (of) => ({ ...of, info: { nested } }),
  ],
  [
    'no reply',
    /ENV-37: nothing replies to the policy/,
    (of) => ({ ...of, observation: { messages: [{ role: 'assistant', content: '' }], tools: [] } }),
  ],
];

test.each(broken)('an environment of this program that gives %s is a bug', async (_, message, change) => {
  await expect(play(changing(change))).rejects.toMatchObject({
    code: 'bug.environment',
    message: expect.stringMatching(message),
  });
});

test.each(broken)('a remote environment that gives %s aborts its episodes', async (_, message, change) => {
  const played = await play(remote(changing(change)));
  for (const { outcome, reward } of played) {
    expect(outcome).toMatchObject({
      kind: 'aborted',
      cause: { code: 'infrastructure.environment', message: expect.stringMatching(message) },
    });
    expect(reward).toBeNull();
  }
  expect(played).toHaveLength(2);
});

test('the reward of a text that adds up to 112 is never scored', async () => {
  // Three times "1" in a process reward, and 1 at the end, once made 1 + "111".
  let turn = 0;
  const env = changing((of) => ({ ...of, rewards: turn++ < 3 ? { climbed: '1' } : of.rewards }));
  await expect(play(env, { concurrency: 1 })).rejects.toMatchObject({ code: 'bug.environment' });
});

test('a remote environment that throws aborts its episodes', async () => {
  const env = changing(() => {
    throw new TypeError('unexpected response');
  });
  const [played] = await play(remote(env));
  expect(played!.outcome).toMatchObject({
    kind: 'aborted',
    cause: { code: 'infrastructure.environment', message: 'unexpected response' },
  });
});

const good: Action = { text: 'done', toolCalls: [], stopReason: 'stop' };
const tokens = { prompt: new Int32Array(3), action: new Int32Array(2), logprobs: new Float32Array(2) };

test.each<[string, RegExp, unknown]>([
  [
    'a usage of fractions',
    /POL-2: the usage is not made of whole numbers/,
    { ...good, usage: { requests: 0.5, inputTokens: 1, cachedTokens: 0, outputTokens: 1, milliseconds: 1 } },
  ],
  [
    'an endless price',
    /POL-2: the usage/,
    {
      ...good,
      usage: {
        ...{ requests: 1, inputTokens: 1, cachedTokens: 0, outputTokens: 1 },
        ...{ cost: Number.POSITIVE_INFINITY, milliseconds: 1 },
      },
    },
  ],
  ['nothing', /POL-2: the text of the action is missing/, undefined],
  ['an unknown stop reason', /POL-2: the stopReason is "eos"/, { ...good, stopReason: 'eos' }],
  ['a call without arguments', /POL-2: call 0 is neither/, { ...good, toolCalls: [{ id: 'c', name: 'x' }] }],
  ['a null call', /POL-2: call 0 is neither/, { ...good, toolCalls: [null] }],
  [
    'plain arrays',
    /POL-3: prompt and action must be Int32Array/,
    { ...good, tokens: { ...tokens, action: [1, 2] } },
  ],
  [
    'too few log-probabilities',
    /POL-3: there are 1 log-probabilities for 2 tokens/,
    { ...good, tokens: { ...tokens, logprobs: new Float32Array(1) } },
  ],
  [
    'a log-probability of NaN',
    /POL-3: a log-probability is NaN/,
    { ...good, tokens: { ...tokens, logprobs: new Float32Array([-1, Number.NaN]) } },
  ],
])('a policy that answers %s is a bug', async (_, message, action) => {
  const policy: Policy = { spec: { name: 'odd', contextLength: 10 }, act: async () => action as Action };
  await expect(play(openLadder(), { policy })).rejects.toMatchObject({
    code: 'bug.policy',
    message: expect.stringMatching(message),
  });
});

test('with onBug "abort-episode" a bug costs its own episode only', async () => {
  let opened = 0;
  const env = () =>
    openLadder(() => {
      const isFirst = opened++ === 0;
      const onAnswer = () => {
        if (isFirst) throw new TypeError('task.entry is undefined');
        return { rewards: { right: 1 }, end: 'answered' };
      };
      return new LadderEnv(climb, {}, { onAnswer });
    });
  await expect(play(env())).rejects.toThrow(TypeError);
  opened = 0;
  const played = await play(env(), { onBug: 'abort-episode', retries: 3 });
  expect(played.map(({ reward }) => reward)).toEqual([null, expect.any(Number)]);
  expect(played[0]!.outcome).toMatchObject({
    kind: 'aborted',
    retryable: false,
    cause: { code: 'infrastructure.bug', message: 'task.entry is undefined', cause: expect.any(TypeError) },
  });
});

test.each(['act', 'reset', 'step', 'close', 'endEpisode'] as const)(
  'a hanging %s ends by a time limit, and another episode is unharmed',
  async (which) => {
    let count = 0;
    const policy = climber();
    const act = policy.act.bind(policy);
    const first = (what: string) => what === which && count++ === 0;
    policy.act = (...given) => (first('act') ? hang() : act(...given));
    policy.endEpisode = () => (first('endEpisode') ? hang() : undefined);
    const env = openLadder(() => {
      const ladder = new LadderEnv();
      const [reset, step, close] = [ladder.reset, ladder.step, ladder.close].map((of) => of.bind(ladder));
      return Object.assign(ladder, {
        reset: (given: never) => (first('reset') ? hang() : reset!(given)),
        step: (given: never) => (first('step') ? hang() : step!(given)),
        close: () => (first('close') ? hang() : (close as () => Promise<void>)()),
      });
    });
    const played = await play(env, { policy, deadline: 300, closeTimeout: 500 });
    const ends = played.map(({ outcome }) => outcome);
    const limit = which === 'close' || which === 'endEpisode' ? 'close_timeout' : 'deadline';
    const hung = { kind: 'aborted', cause: { code: `infrastructure.${limit}` } };
    expect(ends).toEqual(expect.arrayContaining([expect.objectContaining({ kind: 'terminated' })]));
    expect(ends).toEqual(expect.arrayContaining([expect.objectContaining({ kind: hung.kind })]));
    expect(ends.find(({ kind }) => kind === hung.kind)).toMatchObject(hung);
  },
);

test('a hanging close does not hold up an abort', async () => {
  const env = openLadder(() => Object.assign(new LadderEnv(), { close: hang }));
  const controller = new AbortController();
  const policy: Policy = { spec: { name: 'slow', contextLength: 10 }, act: hang };
  const running = play(env, { policy, closeTimeout: 200, signal: controller.signal });
  setTimeout(() => controller.abort(new Error('stopped')), 20);
  await expect(running).rejects.toThrow('stopped');
});
