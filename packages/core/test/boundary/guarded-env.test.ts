/** The guard of an Env, wherever it is used: on servers, in wrappers and by hand. */
import { expect, test } from 'vitest';
import {
  defineEnv,
  defineTool,
  defineToolEnv,
  type Env,
  type EnvHandle,
  type Episode,
  type EpisodeContext,
  type Message,
  openEnv,
  type ToolCallRecord,
  type Trajectory,
  type Transition,
} from '../../src/index.ts';
import { decodeTrajectory, encodeTrajectory } from '../../src/recording/index.ts';
import { transformObservation, transformReward } from '../../src/wrappers/index.ts';
import { brokenTransitions, climbing } from '../broken-transitions.ts';
import { climb, LadderEnv, ladderLimits, ladderSpec, openLadder, type Rung } from '../ladder-env.ts';
import { climber, play } from '../ladder-play.ts';

const answer = { text: 'done', toolCalls: [], stopReason: 'stop' as const };

/** An environment whose steps answer what `change` makes of them. */
function opened(change: (of: Transition) => unknown, remote = false) {
  const definition = defineEnv<Rung, Record<string, unknown>>({
    name: 'ladder-v1',
    description: 'Climb.',
    options: { type: 'object', properties: {} },
    rewards: ladderSpec.rewards,
    limits: ladderLimits,
    roles: {},
    capabilities: { remote },
    async open() {
      return openLadder(() => {
        const env = new LadderEnv();
        const step = env.step.bind(env);
        env.step = async (...given) => change(await step(...given)) as Transition;
        return env;
      });
    },
  });
  return openEnv(definition);
}

async function begun(env: EnvHandle<Rung>): Promise<Env<Rung>> {
  const episode = env.episode();
  await episode.reset({ task: { goal: 1 }, seed: 1 });
  return episode;
}

test.each(brokenTransitions)('an opened environment that gives %s throws', async (_, message, change) => {
  const env = await begun(await opened(change));
  await expect(env.step(climbing)).rejects.toMatchObject({
    code: 'bug.environment',
    message: expect.stringMatching(message),
  });
});

test('the last observation of an episode is checked, because servers hand it out', async () => {
  const env = await begun(await opened((of) => ({ ...of, observation: { messages: [7], tools: [] } })));
  await expect(env.step(answer)).rejects.toThrow(/ENV-14/);
});

test('a remote environment that breaks a rule is a fault of the infrastructure', async () => {
  const env = await begun(await opened((of) => ({ ...of, rewards: { climbed: '1' } }), true));
  await expect(env.step(climbing)).rejects.toMatchObject({ code: 'infrastructure.environment' });
});

test('a wrapper is given checked answers, and what it makes of them is checked', async () => {
  let asked = 0;
  const bad = await opened((of) => ({ ...of, rewards: { climbed: '1' } }));
  const repaired = transformReward(bad, {
    rewards: ladderSpec.rewards,
    transform: (rewards) => {
      asked += 1;
      return { climbed: Number(rewards.climbed) };
    },
  });
  await expect((await begun(repaired)).step(climbing)).rejects.toThrow(/"climbed" is "1"/);
  expect(asked).toBe(0);
  const spoilt = transformReward(await opened((of) => of), {
    rewards: ladderSpec.rewards,
    transform: () => ({ climbed: Number.NaN }),
  });
  await expect((await begun(spoilt)).step(climbing)).rejects.toThrow(/"climbed" is NaN/);
  const mute = transformObservation(await opened((of) => of), () => ({ messages: [7 as never], tools: [] }));
  await expect(mute.episode().reset({ task: { goal: 1 }, seed: 1 })).rejects.toThrow(/ENV-14/);
});

test('the Env as its author made it is there for those who ask for it', async () => {
  const definition = defineToolEnv({
    name: 'plain-v1',
    description: 'Ends.',
    tasks: { train: ['task'] },
    rewards: { right: { kind: 'outcome' } },
    episode: () => ({ messages: [7 as never] }),
  });
  const begin = async (guarded: boolean) =>
    (await openEnv(definition, {}, { guarded })).episode().reset({ task: 'task', seed: 1 });
  await expect(begin(true)).rejects.toThrow('plain-v1 breaks ENV-14: the role of message 0 is missing.');
  expect((await begin(false)).messages).toHaveLength(1);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, {}, null, '0.5'])(
  'a weight of %s is refused where an environment or a wrapper declares it',
  async (weight) => {
    const rewards = { climbed: { kind: 'process', range: [0, 1], weight } } as never;
    const given = await opened((of) => of);
    const refused = / breaks ENV-4: .* is the weight of reward "climbed": give a finite number/;
    expect(() => defineEnv({ name: 'ladder-v1', rewards } as never)).toThrow(refused);
    expect(() => transformReward(given, { rewards, transform: (own) => own })).toThrow(refused);
  },
);

test('process rewards that add up to more than a number holds are refused', async () => {
  const definition = defineToolEnv({
    name: 'rich-v1',
    description: 'Pays.',
    tasks: { train: ['task'] },
    rewards: { paid: { kind: 'process', range: [0, Number.MAX_VALUE] } },
    episode: () => ({ messages: 'Go.', onAnswer: () => ({ reply: 'Go on.', rewards: { paid: 1e308 } }) }),
  });
  const env = (await openEnv(definition)).episode();
  await env.reset({ task: 'task', seed: 1 });
  expect((await env.step(answer)).rewards).toEqual({ paid: 1e308 });
  await expect(env.step(answer)).rejects.toThrow(/add up to Infinity/);
});

/** A ladder whose hooks are given, and its trajectory. */
function ladder(hooks: Partial<Episode>, tool = climb) {
  return play(
    openLadder(() => new LadderEnv(tool, {}, hooks)),
    climber(),
    [2],
  );
}

test('a hook that changes the records it was given changes none of the trajectory', async () => {
  const [honest] = await ladder({ onToolResults: () => ({ rewards: { climbed: 1 } }) });
  const [played] = await ladder({
    onToolResults(calls) {
      for (const record of calls) {
        record.text = 'changed';
        record.result?.content.splice(0);
      }
      (calls as unknown[]).length = 0;
      return { rewards: { climbed: 1 } };
    },
  });
  const timeless = (steps: Trajectory['steps']) =>
    steps.map(({ action, calls }) => ({
      action,
      calls: calls.map((each) => ({ ...each, milliseconds: 0 })),
    }));
  expect(honest!.steps[0]!.calls).toHaveLength(1);
  expect(timeless(played!.steps)).toEqual(timeless(honest!.steps));
});

test('the arguments of a call, which hooks and records share, and the messages of a conversation are frozen', async () => {
  const changes: ((calls: readonly ToolCallRecord[], context: EpisodeContext) => unknown)[] = [
    ([record]) => ((record!.call as { arguments: Record<string, unknown> }).arguments.rungs = 99),
    (_, { conversation }) => (conversation[0]!.content = 'changed'),
  ];
  for (const change of changes) {
    const onToolResults = (...given: [readonly ToolCallRecord[], EpisodeContext]) => void change(...given);
    await expect(ladder({ onToolResults })).rejects.toThrow(/read only property '(rungs|content)'/);
  }
});

test('a tool that changes its arguments changes no record', async () => {
  const greedy = {
    ...climb,
    execute: (args: Record<string, unknown>, context: never) => {
      const result = climb.execute({ ...args }, context);
      args.rungs = 99;
      return result;
    },
  };
  const [played] = await ladder({}, greedy);
  expect(played!.steps[0]).toMatchObject({
    action: { toolCalls: [{ arguments: { rungs: 1 } }] },
    calls: [{ call: { arguments: { rungs: 1 } } }],
  });
});

test('a message that a hook uses again and changes stays as it was', async () => {
  const message: Message = { role: 'user', content: '' };
  let turn = 0;
  const [played] = await ladder({
    onToolResults() {
      message.content = `turn ${++turn}`;
      return { reply: [message] };
    },
  });
  const said = played!.steps.at(-1)!.observation.messages.filter(({ content }) => content.startsWith('turn'));
  expect(said.map(({ content }) => content)).toEqual(said.map((_, index) => `turn ${index + 1}`));
  expect(said.length).toBeGreaterThan(0);
});

test('a reply of more messages than the stack holds is taken for what it is', async () => {
  const reply = new Array(200_000).fill(null);
  await expect(ladder({ onToolResults: () => ({ reply }) })).rejects.toThrow(/ENV-14/);
});

class Deep {
  toJSON(): unknown {
    let nested: unknown = 1;
    for (let level = 0; level < 100_000; level++) nested = [nested];
    return nested;
  }
}
class Moment {
  toJSON(): string {
    return 'noon';
  }
}

test('the info of a step is plain data, or refused', async () => {
  await expect(ladder({ onToolResults: () => ({ info: { deep: new Deep() } }) })).rejects.toThrow(
    /ENV-16: the info of the step.*64 levels/,
  );
  const info = { at: new Moment() };
  const [played] = await ladder({ onToolResults: () => ({ info }) });
  expect(played!.steps[0]!.info).toEqual({ at: 'noon' });
  const { steps } = decodeTrajectory(encodeTrajectory(played!));
  expect(steps).toEqual(played!.steps);
});

test('a record of a call of the environment cannot be changed by its hook', async () => {
  const tool = defineTool('count', 'Counts.', {}, () => 'three');
  const [played] = await ladder({
    async onToolResults(_, { call }) {
      const record = await call(tool);
      record.text = 'changed';
      record.result.content.splice(0);
      return undefined;
    },
  });
  expect(played!.steps[0]!.environmentCalls).toMatchObject([
    { text: 'three', result: { content: [{ text: 'three' }] } },
  ]);
});
