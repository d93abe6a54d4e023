import { describe, expect, test } from 'vitest';
import ticTacToe from '../../../../examples/tic-tac-toe.ts';
import {
  collect,
  defineTool,
  defineToolEnv,
  openEnv,
  type Player,
  type PlayerAnswer,
  type Policy,
  playTask,
  rollout,
  type Script,
  type Tool,
  ToolEnvError,
  type Trajectory,
  text,
} from '../../src/index.ts';
import { decodeTrajectory, encodeTrajectory, trajectoryMistake } from '../../src/recording/index.ts';

const fromX = { begins: 'X' as const, opening: [] };
const fromO = { begins: 'O' as const, opening: [] };

/** Takes the free cell with the lowest number, or the first of the cells that its mark wants. */
function mover(wants: Record<string, number[]> = {}): Policy & { seen: (string | undefined)[] } {
  const seen: (string | undefined)[] = [];
  return {
    seen,
    spec: { name: 'mover', contextLength: 1000 },
    async act({ messages }, { conversation }) {
      seen.push(conversation);
      const { content } = messages.at(-1)!;
      const mark = /(.) to move/.exec(content)![1]!;
      const free = [...content.matchAll(/\d/g)].map(([digit]) => Number(digit));
      const cell = wants[mark]?.find((each) => free.includes(each)) ?? free[0]!;
      return { text: String(cell), toolCalls: [], stopReason: 'stop' };
    },
  };
}

describe('a player whom the policy plays too', () => {
  test('has turns and rewards of its own, and a conversation that nobody else sees', async () => {
    const policy = mover({ X: [1, 2, 3], O: [4, 5, 6] });
    const played = await playTask(ticTacToe, fromX, policy);
    expect(policy.seen).toEqual([undefined, 'opponent', undefined, 'opponent', undefined]);
    expect(played.outcome).toEqual({ kind: 'terminated', reason: 'won by X' });
    expect(played.rewards).toEqual({ won: 1, notLost: 1 });
    expect(played.reward).toBe(1);
    expect(played.players).toEqual({ opponent: { rewards: { won: 0, notLost: 0 }, reward: 0 } });
    const [first, second] = played.steps;
    expect(first!.observation).not.toHaveProperty('conversation');
    expect(second!.observation.conversation).toBe('opponent');
    expect(second!.observation.messages).toEqual([
      { role: 'user', content: 'X 2 3\n4 5 6\n7 8 9\nO to move.' },
    ]);
    expect(played.steps.map(({ rewards }) => rewards)).toEqual([{}, {}, {}, {}, { won: 1, notLost: 1 }]);
  });

  test('may begin', async () => {
    const played = await playTask(ticTacToe, fromO, mover({ O: [1, 2, 3], X: [4, 5, 6] }));
    expect(played.steps[0]!.observation.conversation).toBe('opponent');
    expect(played.outcome).toEqual({ kind: 'terminated', reason: 'won by O' });
    expect(played.players!.opponent!.reward).toBe(1);
    expect(played.reward).toBe(0);
  });

  test('is kept in a trajectory that follows the rules', async () => {
    const played = await playTask(ticTacToe, fromX, mover());
    expect(trajectoryMistake(played)).toBeUndefined();
    expect(decodeTrajectory(encodeTrajectory(played))).toEqual(played);
    const wrong: Trajectory = {
      ...played,
      players: { opponent: { rewards: { won: 1, notLost: 1 }, reward: 1 } },
    };
    expect(trajectoryMistake(wrong)).toMatch(/TRAJ-3: .* of player "opponent"/);
  });

  test('scores 0 if the episode is truncated', async () => {
    const cut: Policy = {
      ...mover(),
      act: async () => ({ text: '', toolCalls: [], stopReason: 'length' }),
    };
    const played = await playTask(ticTacToe, fromX, cut);
    expect(played.outcome).toEqual({ kind: 'truncated', reason: 'max_tokens' });
    expect(played.players!.opponent).toEqual({ rewards: { won: 0, notLost: 0 }, reward: 0 });
  });

  test('leaves nothing that waits when its episode is closed in the middle', async () => {
    const left: string[] = [];
    const waiting = defineToolEnv({
      name: 'waiting-v1',
      description: 'Asks for ever.',
      tasks: { train: [0] },
      players: { other: { description: 'the other player' } },
      rewards: { done: { kind: 'outcome' } },
      episode: ({ player }) => ({
        messages: 'Begin.',
        async onAnswer() {
          try {
            for (;;) await player('other').ask('Again.');
          } finally {
            left.push('hook');
          }
        },
        close: () => void left.push('close'),
      }),
    });
    await using open = await openEnv(waiting);
    const env = open.episode();
    await env.reset({ task: 0, seed: 1 });
    const say = { text: 'x', toolCalls: [], stopReason: 'stop' } as const;
    for (let turn = 0; turn < 3; turn++) {
      const { observation, rewards } = await env.step({ ...say, toolCalls: [] });
      expect(observation.conversation).toBe('other');
      expect(rewards).toEqual({});
    }
    await env.close();
    expect(left).toEqual(['hook', 'close']);
  });

  test('has turns one after another where a hook asks for several at once', async () => {
    const pair = defineToolEnv({
      name: 'pair-v1',
      description: 'Asks two players at once.',
      tasks: { train: [0] },
      players: { a: { description: 'player a' }, b: { description: 'player b' } },
      rewards: { same: { kind: 'outcome' } },
      episode: ({ player }) => ({
        messages: 'Begin.',
        async onAnswer() {
          const [a, b] = await Promise.all([player('a').ask('Say a.'), player('b').ask('Say b.')]);
          return { end: 'asked', rewards: { same: Number(a.text === 'a' && b.text === 'b') } };
        },
      }),
    });
    const played = await playTask(pair, 0, ({ conversation }) => conversation ?? 'x');
    expect(played.rewards).toEqual({ same: 1 });
    expect(played.steps.map(({ observation }) => observation.conversation)).toEqual([undefined, 'a', 'b']);
  });

  test('calls tools of its own until it answers', async () => {
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object' },
      execute: async () => text('a cup'),
    });
    const guided = defineToolEnv({
      name: 'guided-v1',
      description: 'A guide looks.',
      tasks: { train: [0] },
      players: {
        guide: { description: 'the guide', scripts: { looker: (_, { messages }) => looks(messages) } },
      },
      rewards: { heard: { kind: 'outcome' } },
      episode: ({ player }) => ({
        messages: 'Begin.',
        async onAnswer() {
          const { text: said } = await player('guide').ask('What is there?', { tools: [look] });
          return { end: 'told', rewards: { heard: Number(said === 'a cup') } };
        },
      }),
    });
    const looks = (messages: readonly { role: string; content: string }[]) =>
      messages.at(-1)!.role === 'tool' ? messages.at(-1)!.content : [{ name: 'look', arguments: {} }];
    const policy = ({
      messages,
      conversation,
    }: {
      messages: { role: string; content: string }[];
      conversation?: string;
    }) => (conversation === 'guide' ? looks(messages) : 'Tell me.');
    const self = await playTask(guided, 0, policy);
    expect(self.rewards).toEqual({ heard: 1 });
    expect(self.steps.map(({ calls }) => calls.map(({ text: said }) => said))).toEqual([[], ['a cup'], []]);

    await using open = await openEnv(guided, { guide: 'looker' });
    const scripted = await playTask(open, 0, policy);
    expect(scripted.rewards).toEqual({ heard: 1 });
    expect(scripted.steps).toHaveLength(1);
    expect(scripted.steps[0]!.environmentCalls!.map(({ text: said }) => said)).toEqual(['a cup']);
  });
});

/** Several players who move at once: each looks and then bids. `play` says who plays the bidders. */
function bidding(tool: Tool = peek, bid?: (players: Record<string, Player>) => Promise<PlayerAnswer[]>) {
  const ask = async ({ a, b, c }: Record<string, Player>) =>
    Promise.all([a!, b!, c!].map((each) => each.ask('Look, then bid.', { tools: [tool] })));
  return defineToolEnv({
    name: 'bidding-v1',
    description: 'Three bidders, who bid at once.',
    tasks: { train: [0] },
    players: {
      a: { description: 'bidder a', scripts: { plain: (_, { messages }) => looksOnce(messages, 'a') } },
      b: { description: 'bidder b', scripts: { plain: (_, { messages }) => looksOnce(messages, 'b') } },
      c: { description: 'bidder c', scripts: { plain: (_, { messages }) => looksOnce(messages, 'c') } },
    },
    rewards: { all: { kind: 'outcome' } },
    episode: ({ player }) => ({
      messages: 'Begin.',
      async onAnswer() {
        const bids = await (bid ?? ask)({ a: player('a'), b: player('b'), c: player('c') });
        return { end: bids.map((each) => each.text).join(), rewards: { all: 1 } };
      },
    }),
  });
}

/** Answers later for each call that came before it. */
const peek = defineTool({
  name: 'peek',
  description: 'Peeks.',
  inputSchema: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
  async execute({ of }, { callIndex, rng }) {
    await new Promise((resolve) => setTimeout(resolve, 12 - 4 * callIndex));
    return text(`${of} ${callIndex} ${rng.int(1000)}`);
  },
});

const looksOnce = (messages: readonly { role: string; content: string }[], of: string) =>
  messages.at(-1)!.role === 'tool' ? `${of}!` : [{ name: 'peek', arguments: { of } }];
const bidder: Script = ({ messages, conversation }) =>
  conversation === undefined ? 'Go.' : looksOnce(messages, conversation);

describe('players who are asked at once', () => {
  test('have each of their calls in the step that made it', async () => {
    const played = await playTask(bidding(), 0, bidder);
    expect(played.outcome).toEqual({ kind: 'terminated', reason: 'a!,b!,c!' });
    const steps = played.steps.map(({ observation, action, calls }) => [
      observation.conversation,
      action.toolCalls.length,
      calls.map(({ text: said }) => said.slice(0, 3)).join(),
    ]);
    expect(steps).toEqual([
      [undefined, 0, ''],
      ['a', 1, 'a 0'],
      ['b', 1, 'b 1'],
      ['c', 1, 'c 2'],
      ['a', 0, ''],
      ['b', 0, ''],
      ['c', 0, ''],
    ]);
    expect(trajectoryMistake(played)).toBeUndefined();
    // The tools draw from the seed, whatever the others do.
    expect((await playTask(bidding(), 0, bidder)).steps.map(({ calls }) => calls[0]?.text)).toEqual(
      played.steps.map(({ calls }) => calls[0]?.text),
    );
  });

  test('have all of their calls among those of the environment where scripts play them', async () => {
    for (const seats of [
      { a: 'plain', b: 'plain', c: 'plain' },
      { a: 'plain', c: 'plain' },
      { b: 'plain' },
    ]) {
      await using open = await openEnv(bidding(), seats);
      const played = await playTask(open, 0, bidder);
      const ofSteps = played.steps.map(({ environmentCalls = [] }) =>
        environmentCalls.map(({ text: said }) => said[0]).join(''),
      );
      // In the step that asked, however long their tools take.
      expect(ofSteps[0]).toBe(Object.keys(seats).join(''));
      expect(ofSteps.slice(1).join('')).toBe('');
      const own = played.steps.flatMap(({ calls }) => calls.map(({ text: said }) => said[0])).join('');
      expect(own).toBe(['a', 'b', 'c'].filter((name) => !Object.hasOwn(seats, name)).join(''));
      expect(trajectoryMistake(played)).toBeUndefined();
    }
  });

  test('each go on at their own pace', async () => {
    const twice = bidding(peek, async ({ a, b }) => {
      const flow = async (each: Player, wait: number) => {
        const first = await each.ask('Look, then bid.', { tools: [peek] });
        await new Promise((resolve) => setTimeout(resolve, wait));
        return [first, await each.ask('Again.')];
      };
      return (await Promise.all([flow(a!, 5), flow(b!, 1)])).flat();
    });
    const played = await playTask(twice, 0, bidder);
    expect(trajectoryMistake(played)).toBeUndefined();
    const records = played.steps.map(({ action, calls }) => [action.toolCalls.length, calls.length]);
    expect(records.every(([asked, recorded]) => asked === recorded)).toBe(true);
    expect(played.steps).toHaveLength(9);
  });

  test('end their episode where a tool of one of them fails', async () => {
    const broken = { ...peek, execute: () => Promise.reject(new Error('The lens is broken.')) };
    const asSettled = bidding(broken, async ({ a, b }) => {
      await Promise.allSettled([a!, b!].map((each) => each.ask('Look.', { tools: [broken] })));
      return [];
    });
    for (const env of [bidding(broken), asSettled]) {
      const played = await playTask(env, 0, bidder, { retries: 0 });
      expect(played.outcome).toMatchObject({
        kind: 'aborted',
        cause: { code: 'infrastructure.tool_failed', message: 'Tool "peek" failed: The lens is broken.' },
      });
      expect(played.steps.map(({ observation }) => observation.conversation)).toEqual([undefined, 'a']);
    }
  });

  test('must be awaited, each before it is asked again, and are not asked by a call that their policy waits for', async () => {
    const forgotten = bidding(peek, async ({ a, b }) => [await Promise.race([a!.ask('x'), b!.ask('y')])]);
    await expect(playTask(forgotten, 0, bidder)).rejects.toMatchObject({
      code: 'bug.environment',
      message:
        'bidding-v1: a hook ended while the player "b" was asked: await every ask, such as Promise.all([…]).',
    });
    const hurried = bidding(peek, ({ a }) => Promise.all([a!.ask('x'), a!.ask('y')]));
    await expect(playTask(hurried, 0, bidder)).rejects.toMatchObject({
      code: 'bug.environment',
      message: 'The player "a" is asked while it has to answer: await its first answer, then ask again.',
    });
    const nested = defineToolEnv({
      name: 'nested-v1',
      description: 'A tool asks a player.',
      tasks: { train: [0] },
      players: { user: { description: 'the user', scripts: { plain: () => 'At noon.' } } },
      rewards: { done: { kind: 'outcome' } },
      episode: ({ player }) => ({
        messages: 'Begin.',
        tools: [
          defineTool('ask_user', 'Ask the user.', {}, async () => (await player('user').ask('When?')).text),
        ],
      }),
    });
    const script = [[{ name: 'ask_user', arguments: {} }], 'done'];
    await expect(playTask(nested, 0, script)).rejects.toMatchObject({
      code: 'bug.environment',
      message:
        'The player "user" is asked by a tool, but the policy plays it too, and waits for the tool: ask it in a hook such as onToolResults, or let a script or another policy play it.',
    });
    await using open = await openEnv(nested, { user: 'plain' });
    expect((await playTask(open, 0, script)).steps[0]!.calls[0]!.text).toBe('At noon.');
  });
});

describe('the rewards of players', () => {
  const rewarding = (playerRewards: Record<string, { won: number }>) =>
    defineToolEnv({
      name: 'rewarding-v1',
      description: 'Rewards players.',
      tasks: { train: [0] },
      players: { opponent: { description: 'the opponent', scripts: { plain: () => 'x' } } },
      rewards: { won: { kind: 'outcome' } },
      episode: () => ({
        messages: 'Begin.',
        onAnswer: () => ({ end: 'over', rewards: { won: 1 }, playerRewards: playerRewards as never }),
      }),
    });

  test('name players of the environment', async () => {
    for (const opponent of ['self', 'plain']) {
      await using open = await openEnv(rewarding({ oponent: { won: 1 } }), { opponent });
      await expect(playTask(open, 0, ['x'])).rejects.toMatchObject({
        code: 'bug.environment',
        message:
          'rewarding-v1: onAnswer rewards a player "oponent", whom the environment does not declare. Did you mean "opponent"?',
      });
    }
    await using known = await openEnv(rewarding({ opponent: { won: 1 } }), { opponent: 'plain' });
    expect((await playTask(known, 0, ['x'])).rewards).toEqual({ won: 1 });
  });
});

describe('a player whom somebody else plays', () => {
  test('is no part of the trajectory, and equal seeds give equal games', async () => {
    await using env = await openEnv(ticTacToe, { opponent: 'random' });
    const play = async (seed: number) => {
      const episodes = Array.from({ length: 20 }, (_, sample) => ({
        task: fromO,
        group: 0,
        sample,
      }));
      const sampling = { maxTokens: 8, temperature: 0 };
      return collect(rollout({ env, policy: mover(), episodes, concurrency: 4, sampling, seed }));
    };
    const played = await play(1);
    expect(
      played.every(
        ({ players, steps }) => !players && steps.every(({ observation }) => !observation.conversation),
      ),
    ).toBe(true);
    const results = (games: Trajectory[]) => games.map(({ outcome }) => JSON.stringify(outcome));
    expect(new Set(results(played)).size).toBeGreaterThan(1);
    expect(results(await play(1))).toEqual(results(played));
    expect(results(await play(2))).not.toEqual(results(played));
  });

  test('is asked as a tool if a policy of that name plays it, with a seed and a conversation of its own', async () => {
    const opponent = mover({ O: [9, 8, 7] });
    const asked: (number | undefined)[] = [];
    const policy = async (name: string): Promise<Policy> => ({
      ...opponent,
      spec: { name, contextLength: 1000 },
      act(observation, options) {
        asked.push(options.temperature, options.maxTokens);
        return opponent.act(observation, options);
      },
    });
    const options = { ...ticTacToe.limits, opponent: 'some-policy' } as never;
    const open = await ticTacToe.open({ options, seed: 1, tools: {}, policy });
    const played = await playTask({ ...open, ref: 'tic-tac-toe-v1' }, fromO, mover());
    await open.close();
    expect(played.steps.every(({ observation }) => observation.conversation === undefined)).toBe(true);
    const moves = played.steps.flatMap(({ environmentCalls = [] }) => environmentCalls);
    expect(moves.map(({ call, text: said }) => [(call as { name: string }).name, said])).toEqual([
      ['opponent', '9'],
      ['opponent', '8'],
      ['opponent', '7'],
    ]);
    expect(opponent.seen).toEqual(['opponent', 'opponent', 'opponent']);
    expect(asked).toEqual([1, 256, 1, 256, 1, 256]);
    expect(played.outcome).toEqual({ kind: 'terminated', reason: 'won by O' });
  });

  test('must be known', async () => {
    await expect(openEnv(ticTacToe, { oponent: 'random' } as object)).rejects.toMatchObject({
      code: 'usage.unknown_option',
    });
    const definition = { ...ticTacToe };
    const open = definition.open({ options: { opponent: 'openai:x' } as never, seed: 1, tools: {} });
    await expect(open).rejects.toMatchObject({ code: 'usage.no_policies' });
    const policy = () => Promise.reject(new ToolEnvError('usage.no_checkpoint', 'No checkpoint.'));
    const misspelt = { options: { opponent: 'randon' } as never, seed: 1, tools: {}, policy };
    await expect(definition.open(misspelt)).rejects.toMatchObject({
      code: 'usage.no_checkpoint',
      message: 'The player "opponent" is to be played by "randon". Did you mean "random"? No checkpoint.',
    });
  });
});
