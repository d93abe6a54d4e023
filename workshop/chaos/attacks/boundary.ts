/** Attacks by environments, tools and policies on the loop that plays episodes. */
import {
  defineTool,
  defineToolEnv,
  type Episode,
  imagesOf,
  messageOf,
  openEnv,
  type Policy,
  playTask,
  rollout,
  type Script,
  scriptedPolicy,
  type Tool,
  type Trajectory,
} from '@toolenv/core';
import { ServedEpisodes } from '@toolenv/serving';
import { evaluate } from '@toolenv/training';
import { faults } from '../episodes/faults.ts';
import { play } from '../episodes/play.ts';
import { type Attack, holds, thrown, within } from './attack.ts';

/** Plays an episode whose tool returns these blocks in each of six turns. Returns the images that the policy was shown in its last. */
async function shownImages(
  content: unknown,
): Promise<{ played: Trajectory; shown: { data: string; mimeType: string }[] }> {
  const look = defineTool('look', 'Look.', {}, async () => ({ content }) as never);
  const env = defineToolEnv({
    name: 'looking-v1',
    description: 'Look.',
    limits: { maxTurns: 8 },
    tasks: { train: [{}] },
    rewards: { seen: { kind: 'outcome', score: () => 1 } },
    episode: () => ({ messages: 'Look.', tools: [look] }),
  });
  const script = scriptedPolicy([...Array(6).fill([{ name: 'look', arguments: {} }]), 'seen']);
  const policy: Policy = { ...script, spec: { ...script.spec, capabilities: { images: true } } };
  const played = await playTask(env, {}, policy, { retries: 0 });
  const last = played.steps.at(-1)!.observation.messages;
  return { played, shown: last.flatMap((message) => [...imagesOf(message)]) };
}

/** Plays an episode of three players, of whom the second uses a faulty tool. */
async function playAtOnce(fault: string, means: string, act: Tool['execute']): Promise<void> {
  const use = { description: 'Use it.', inputSchema: { type: 'object' } } as const;
  const tools: readonly Tool[] = [
    { ...use, name: 'sound', execute: async () => ({ content: [{ type: 'text', text: 'ok' }] }) },
    { ...use, name: 'faulty', execute: act },
  ];
  const names = ['a', 'b', 'c'] as const;
  const env = defineToolEnv({
    name: 'at-once-v1',
    description: 'Asks three players at once.',
    limits: { toolTimeout: 200 },
    tasks: { train: [0] },
    players: { a: { description: 'a' }, b: { description: 'b' }, c: { description: 'c' } },
    rewards: { done: { kind: 'outcome' } },
    episode: ({ player }) => ({
      messages: 'Begin.',
      async onAnswer() {
        await Promise.allSettled(names.map((each) => player(each).ask('Use a tool.', { tools })));
        return { end: 'done', rewards: { done: 1 } };
      },
    }),
  });
  const script: Script = ({ messages, conversation }) => {
    if (!conversation || messages.at(-1)!.role === 'tool') return 'done';
    return [{ name: conversation === 'b' ? 'faulty' : 'sound', arguments: {} }];
  };
  const { outcome, steps } = await playTask(env, 0, script, { retries: 0 });
  const expected = means === 'aborts' ? 'aborted' : 'terminated';
  holds(outcome.kind === expected, `${fault}: it ended as ${JSON.stringify(outcome).slice(0, 300)}`);
  const whole = outcome.kind === 'aborted' ? steps.slice(0, -1) : steps;
  const isWhole = whole.every(({ action, calls }) => calls.length === action.toolCalls.length);
  holds(isWhole, `${fault}: a step lacks the records of its calls`);
}

const image = (data: unknown, mimeType: unknown = 'image/png') => ({ type: 'image', data, mimeType });

const stopped = 'the run stops with a bug of the environment, or the episode is aborted; nothing is scored';

export const boundary: Attack[] = [
  {
    name: 'broken images',
    attack: 'a tool returns images of HTML, SVG, no base64, 5 MB, and with a name in place of data',
    expected: 'the policy is shown none of them, and the episode ends well, or is aborted',
    async run() {
      const script = '<script>alert(1)</script>';
      const blocks = [
        image(script),
        image('AAAA', 'image/svg+xml'),
        image('AAAA', 'text/html'),
        image('A'.repeat(5_000_000)),
      ];
      for (const block of [
        ...blocks,
        image('AAAA', `image/png"><script>`),
        image({ length: 4 }),
        image(null, null),
      ]) {
        const { played, shown } = await shownImages([block]);
        holds(shown.length === 0, `the policy was shown ${shown.length} images`);
        holds(['terminated', 'aborted'].includes(played.outcome.kind), `it ended as ${played.outcome.kind}`);
      }
    },
  },
  {
    name: 'a fault among players who move at once',
    attack: 'of three players who are asked at once, the second has a tool with each of the faults',
    expected: 'the episode is aborted or scored, and each step has the records of its own calls',
    async run() {
      for (const { name, means, act } of faults) await within(10_000, playAtOnce(name, means, act as never));
    },
  },
  {
    name: 'images without end',
    attack: 'a tool returns three images of 3 MB in each of six turns',
    expected: 'the policy is shown two of the newest, and the episode is scored',
    async run() {
      const { played, shown } = await shownImages([
        image('A'.repeat(3_000_000)),
        image('B'.repeat(3_000_000)),
        image('C'.repeat(3_000_000)),
      ]);
      const size = shown.reduce((sum, { data }) => sum + data.length, 0);
      holds(size === 6_000_000, `the policy was shown ${size} characters`);
      holds(played.reward === 1, `it ended as ${JSON.stringify(played.outcome).slice(0, 300)}`);
    },
  },
  {
    name: 'process reward "1"',
    attack: 'an environment returns the text "1" as a process reward three times, then the number 1',
    expected: stopped,
    run: () => refusedRewards(['1', '1', '1', 1]),
  },
  {
    name: 'process reward "0.5"',
    attack: 'an environment returns the text "0.5" as a process reward twice',
    expected: stopped,
    run: () => refusedRewards(['0.5', '0.5']),
  },
  {
    name: 'reward NaN',
    attack: 'an environment returns NaN as a process reward',
    expected: stopped,
    run: () => refusedRewards([Number.NaN]),
  },
  {
    name: 'outcome reward twice',
    attack: 'an environment scores an outcome reward in two turns',
    expected: stopped,
    run: () => refusedRewards([1, 1], 'outcome'),
  },
  {
    name: 'rewards without await',
    attack: 'a hook returns a Promise as its rewards, a Map of them, and a misspelt "reward"',
    expected: 'the run stops with a bug of the environment; nothing is scored',
    async run() {
      for (const decision of [{ rewards: (async () => ({}))() }, { rewards: new Map() }, { reward: 1 }]) {
        const hooks = { onAnswer: () => ({ end: 'answered', ...decision }) as never };
        const message = messageOf(await thrown(() => playOne(hooks)));
        holds(/Promise|an object|Did you mean "rewards"/.test(message), `threw ${message}`);
      }
    },
  },
  {
    name: 'weight NaN',
    attack: 'a reward is declared with a weight of NaN',
    expected: 'the definition is refused',
    async run() {
      const rewards = { score: { kind: 'outcome', weight: Number.NaN } } as const;
      const define = async () =>
        defineToolEnv({ ...plain, rewards, episode: () => ({ messages: 'Begin.' }) });
      holds(/ENV-4/.test(messageOf(await thrown(define))), 'threw something else');
    },
  },
  {
    name: 'served reward "1"',
    attack: 'a served environment returns the text "1" as a reward, and a message of 7',
    expected: 'the turn fails with a bug of the environment; nothing leaves the server',
    async run() {
      for (const given of [{ end: 'answered', rewards: { score: '1' } }, { reply: [7] }]) {
        const episodes = new ServedEpisodes(await envOf({ onAnswer: () => given as never }), {});
        const { signal } = new AbortController();
        await episodes.begin({}, signal);
        const turn = () => episodes.step({ text: 'done', toolCalls: [], stopReason: 'stop' }, signal);
        const message = messageOf(await thrown(turn));
        holds(/ENV-(14|21)/.test(message), `threw ${message}`);
      }
    },
  },
  {
    name: 'emptied records',
    attack: 'a hook empties the list of calls that it is given',
    expected: 'the trajectory has the call',
    async run() {
      const env = await envOf({ onToolResults: (calls) => void (calls as unknown[]).splice(0) });
      const { steps } = await playTask(env, 'task', [[{ name: 'nothing', arguments: {} }], 'done']);
      holds(steps[0]!.calls.length === 1, 'the record is gone');
    },
  },
  {
    name: 'millions of items',
    attack: 'a tool answers with ten million items and no content',
    expected: 'its episode is aborted within a second',
    async run() {
      const huge = { data: new Array(1e7).fill(null) };
      const tool = { ...defineTool('huge', 'Huge.', {}, () => ''), execute: async () => huge as never };
      const env = await envOf({ tools: [tool] });
      const start = performance.now();
      const { outcome } = await playTask(env, 'task', [[{ name: 'huge', arguments: {} }]], { retries: 0 });
      holds(outcome.kind === 'aborted', `the outcome is ${outcome.kind}`);
      holds(performance.now() - start < 1000, `took ${Math.round(performance.now() - start)} ms`);
    },
  },
  {
    name: 'hanging close, deadline',
    attack: 'the close of an episode never ends; the rollout has a deadline',
    expected: 'the rollout ends',
    run: () => endsDespite({ close: forever }, { deadline: 500 }),
  },
  {
    name: 'hanging close, abort',
    attack: 'the close of an episode never ends; the rollout is aborted',
    expected: 'the rollout ends with the reason of the abort',
    run: () => endsDespite({ close: forever }, { signal: AbortSignal.timeout(500) }),
  },
  {
    name: 'hanging reset, abort',
    attack: 'an answer hook and close never end; the rollout is aborted',
    expected: 'the rollout ends with the reason of the abort',
    run: () => endsDespite({ close: forever, onAnswer: forever }, { signal: AbortSignal.timeout(500) }),
  },
  {
    name: 'endEpisode throws',
    attack: "a policy's endEpisode throws",
    expected: 'the rollout gives every episode',
    async run() {
      const { wrong } = await play(
        Array.from({ length: 4 }, () => ({
          turns: [],
          right: true,
          episodeFault: 'endEpisode throws' as const,
        })),
        { toolTimeout: 500, limit: 15_000 },
      );
      holds(wrong.length === 0, wrong[0]!);
    },
  },
  {
    name: 'a third of the episodes aborted',
    attack: 'the tools of every third episode fail',
    expected: 'the evaluation stops after the 13th aborted episode of the last 64, and names the cause',
    async run() {
      let episodes = 0;
      const failing = defineTool('fails', 'Fails.', {}, () => {
        throw new Error('no backend');
      });
      const env = await openEnv(
        defineToolEnv({
          name: 'attack-v1',
          description: 'Attacks.',
          tasks: { test: Array.from({ length: 100 }, () => 'task') },
          rewards: { score: { kind: 'outcome' } },
          episode: () => ({
            messages: 'Begin.',
            tools: episodes++ % 3 === 0 ? [failing] : [defineTool('fails', 'Works.', {}, () => 'done')],
            onAnswer: () => ({ rewards: { score: 1 }, end: 'answered' }),
          }),
        }),
      );
      const policy = scriptedPolicy([[{ name: 'fails', arguments: {} }], 'done']);
      const error = await thrown(() => evaluate({ env, policy, count: 100, concurrency: 1, retries: 0 }));
      const message = messageOf(error);
      holds(/^13 of the last \d+ episodes were aborted\..*no backend/.test(message), `threw ${message}`);
    },
  },
  {
    name: 'bug of an own environment',
    attack: 'a hook of an environment of the user’s own throws a TypeError',
    expected: 'the rollout throws the TypeError with its stack',
    async run() {
      const error = await thrown(() =>
        playOne({
          onAnswer() {
            throw new TypeError('a bug');
          },
        }),
      );
      const whole = error as Error & { cause?: Error };
      const stacks = `${whole.stack}\n${whole.cause?.stack ?? ''}`;
      holds(
        stacks.includes('TypeError: a bug') && stacks.includes('boundary.ts'),
        `threw ${messageOf(error)}`,
      );
    },
  },
];

const forever = () => new Promise<never>(() => {});

const plain = { name: 'attack-v1', description: 'Attacks.', tasks: { test: ['task'] } };

/** An environment of one task, whose hooks are given. */
function envOf(hooks: Partial<Episode>, kind: 'process' | 'outcome' = 'process') {
  const nothing = defineTool('nothing', 'Does nothing.', {}, () => 'done');
  return openEnv(
    defineToolEnv({
      ...plain,
      rewards: { score: { kind, range: [0, 1000] } },
      episode: () => ({ messages: 'Begin.', tools: [nothing], ...(hooks as object) }),
    }),
  );
}

async function playOne(hooks: Partial<Episode>): Promise<Trajectory> {
  return playTask(await envOf(hooks), 'task', ['done']);
}

async function refusedRewards(values: unknown[], kind: 'process' | 'outcome' = 'process'): Promise<void> {
  let turn = 0;
  const env = await envOf({ onToolResults: () => ({ rewards: { score: values[turn++] as never } }) }, kind);
  const calls = values.map(() => [{ name: 'nothing', arguments: {} }]);
  const played = await playTask(env, 'task', [...calls, 'done']).catch(messageOf);
  if (typeof played === 'string') return holds(/reward/i.test(played), `threw ${played}`);
  holds(played.reward === null, `scored ${JSON.stringify(played.reward)}`);
}

async function endsDespite(
  hooks: Partial<Episode>,
  options: { deadline?: number; signal?: AbortSignal },
): Promise<void> {
  const policy: Policy = scriptedPolicy(['done']);
  const env = await envOf(hooks);
  const trajectories = rollout({
    env,
    policy,
    episodes: [{ task: 'task', group: 0, sample: 0 }],
    concurrency: 1,
    sampling: { maxTokens: 1, temperature: 0 },
    seed: 1,
    ...options,
  });
  const ended = (async () => {
    for await (const _trajectory of trajectories);
  })();
  // The reason of the abort is thrown.
  await within(15_000, options.signal ? ended.catch(() => {}) : ended);
}
