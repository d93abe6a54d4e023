/** The players whose episodes the small policy learns from. */
import { createRng, playTask, type ToolDescription } from '@toolenv/core';
import { Chat } from '@toolenv/policy';
import { describe, expect, test } from 'vitest';
import { marks } from '../../packages/envs-classic/src/wordle-v1.ts';
import { drawSymbol } from '../tiny-policy/library/draw-symbol.ts';
import { isLeftOut, questionGoal } from '../tiny-policy/library/goals.ts';
import { type LibraryName, library } from '../tiny-policy/library/library.ts';
import { libraryEpisodes } from '../tiny-policy/library/library-episodes.ts';
import { libraryDesign } from '../tiny-policy/library/library-tokenizer.ts';
import { type LibraryPlayer, openLibraryEnv } from '../tiny-policy/library/player.ts';
import { toolExercises } from '../tiny-policy/library/tool-exercises.ts';
import { noteOf } from '../tiny-policy/library/wordle.ts';
import { buildTokenizer } from '../tiny-policy/tokenizer.ts';

const names = Object.keys(library) as LibraryName[];

/** Rewards of episodes of training tasks. */
async function play(name: LibraryName, count: number, isHasty = false): Promise<number[]> {
  const player: LibraryPlayer<unknown> = library[name];
  await using env = await openLibraryEnv(player, 3);
  const rewards: number[] = [];
  for (let index = 0; index < count; index++) {
    const task = await env.tasks.train.get(index);
    const script = player.play(task, createRng(3, name, index), isHasty);
    const { reward } = await playTask(env, task, script, { seed: index });
    rewards.push(reward!);
  }
  return rewards;
}

test.each(names)('the player of %s wins', async (name) => {
  const rewards = await play(name, 30);
  expect(rewards.filter((reward) => reward >= 1)).toHaveLength(30);
});

test.each(['arithmetic', 'household', 'bank', 'sql', 'safe'] as const)(
  'a hasty player of %s sometimes wins, and sometimes loses',
  async (name) => {
    const rewards = await play(name, 120, true);
    const won = rewards.filter((reward) => reward >= 1).length / 120;
    expect(won).toBeGreaterThan(0.25);
    expect(won).toBeLessThan(0.75);
  },
);

test.each(names)('some goals of %s are left out of the episodes, and not most of them', async (name) => {
  const player: LibraryPlayer<unknown> = library[name];
  await using env = await openLibraryEnv(player, 3);
  const tasks = await Promise.all(Array.from({ length: 120 }, (_, index) => env.tasks.train.get(index)));
  const goals = [...new Set(tasks.map((task) => player.goal(task)))];
  const leftOut = goals.filter(isLeftOut);
  expect(leftOut.length).toBeGreaterThan(0);
  expect(leftOut.length).toBeLessThan(0.45 * goals.length);
});

test('the questions of episodes are of goals that are not left out', async () => {
  const episodes = libraryEpisodes({ name: 'sql', seed: 5 });
  for (let i = 0; i < 30; i++) {
    const { value } = await episodes.next();
    const question = value.messages[1]!.content;
    expect(isLeftOut(library.sql.goal({ question, shop: 0, query: '', answer: 0 }))).toBe(false);
  }
  await episodes.return(undefined as never);
});

test('an episode of arithmetic repeats a sentence and calculates its operation with the last result', async () => {
  const episodes = libraryEpisodes({ name: 'arithmetic', seed: 6 });
  for (let i = 0; i < 20; i++) {
    const [, question, ...turns] = (await episodes.next()).value.messages;
    const steps = turns.slice(0, -1).filter(({ role }) => role === 'assistant');
    const results = turns.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
    const sentences = question!.content.split(/(?<=\.) /);
    expect(steps.map(({ content }) => content)).toEqual(sentences.slice(0, -1));
    for (const [index, step] of steps.entries()) {
      const [call] = step.role === 'assistant' ? step.toolCalls! : [];
      const [left, operator, right] = String(call!.arguments.expression).split(/ ([-+*/]) /);
      expect('+-*/').toContain(operator);
      expect(sentences[index]).toContain(right);
      if (index === 0) expect(sentences[0]).toContain(left);
      else expect(left).toBe(results[index - 1]);
    }
    expect(turns.at(-1)!.content).toBe(`#### ${results.at(-1)}`);
  }
  await episodes.return(undefined as never);
});

test.each([
  ['arithmetic', /\b(Ada|Ben|Clara|Dina|Emil|Farid|Greta|Hugo|Ines|Jonas|Kofi|Lena)\b/],
  ['bank', /\b(Adeyemi|Brandt|Castillo|Dahl|Eriksen|Fontaine|Greco|Haas|Ito|Jansen)\b/],
  ['sql', /name = '(Ada|Ben|Clara|Dina|Emil|Farid|Greta|Hugo|Ines|Jonas|Kofi|Lena|Mila|Noor)'/],
] as const)('people of the training tasks of %s have other names in episodes', async (name, people) => {
  const episodes = libraryEpisodes({ name, seed: 7 });
  for (let i = 0; i < 12; i++) {
    const { messages } = (await episodes.next()).value;
    expect(JSON.stringify(messages)).not.toMatch(people);
  }
  await episodes.return(undefined as never);
});

test('a goal of a question has no names', () => {
  expect(questionGoal({ question: 'Who leads the company that signed Dethor Ashburn?' })).toBe(
    'Who leads the company that signed …?',
  );
});

test('a tour of household is mostly short, and sometimes long', async () => {
  const episodes = libraryEpisodes({ name: 'household', seed: 4 });
  const lengths: number[] = [];
  for (let i = 0; i < 60; i++) lengths.push((await episodes.next()).value.messages.length);
  await episodes.return(undefined as never);
  expect(lengths.filter((length) => length <= 24).length).toBeGreaterThan(30);
  expect(Math.max(...lengths)).toBeGreaterThan(40);
});

test.each([
  [['crane'], 'actor', ':_____ +cra -ne'],
  [['crane', 'march'], 'actor', ':_____ +cra -nemh'],
  [['solar'], 'robin', ':_o___ +r -sla'],
  [['geese'], 'eagle', ':____e +g -s'],
])('the note after %s for %s', (guesses, word, note) => {
  expect(noteOf(guesses.map((guess) => [guess, marks(guess, word)]))).toBe(note);
});

test('a tool exercise calls a tool of its list with the arguments of the request', () => {
  const exercises = toolExercises(1);
  for (let i = 0; i < 50; i++) {
    const { messages, tools } = exercises.next().value;
    const turn = messages[2]!;
    const [call] = turn.role === 'assistant' ? turn.toolCalls! : [];
    const tool = tools.find(({ name }) => name === call!.name)!;
    expect(Object.keys(call!.arguments)).toEqual(tool.inputSchema.required);
    for (const value of Object.values(call!.arguments)) expect(messages[1]!.content).toContain(value);
  }
});

test('symbols are numbers, ids, letters and names, and seldom the same', () => {
  const rng = createRng(1);
  const drawn = Array.from({ length: 600 }, () => drawSymbol(rng));
  expect(drawn.filter((symbol) => !/^(\d{1,4}|[ACK]\d{4}|=[a-z]{5}|[A-Z][a-z]{3,6})$/.test(symbol))).toEqual(
    [],
  );
  expect(new Set(drawn).size).toBeGreaterThan(500);
});

describe('the tokenizer', () => {
  const { value } = toolExercises(2).next();
  const [tool] = value.tools as [ToolDescription];
  const design = libraryDesign([value, value]);
  const { tokenizer, tokenizerConfig, vocabularySize, endOfTurn } = buildTokenizer(design);
  const chat = new Chat({ folder: 'small', tokenizer, tokenizerConfig, endTokens: [endOfTurn] });
  const textsOf = (text: string) =>
    Array.from(chat.encode(text), (token) => chat.decode(Int32Array.of(token)));

  test.each(['A9322 has 40.', 'Zürich\n\t„x“ =crane', '{"name":"Dora Petrov","premium":true}'])(
    'keeps %j',
    (text) => {
      expect(chat.decode(chat.encode(text))).toBe(text);
    },
  );

  test('spells numbers and short words', () => {
    expect(textsOf(' 40=crane')).toEqual([' 4', '0', '=', 'c', 'r', 'a', 'n', 'e']);
    expect(design.pieces.filter((piece) => /\d|^[a-z]{1,5}$/.test(piece))).toEqual([]);
  });

  test('has the call of a known tool up to its first argument', () => {
    const [key] = Object.keys(tool.inputSchema.properties!);
    const begin = `{"name": "${tool.name}", "arguments": {"${key}": "`;
    expect(textsOf(begin)).toEqual([begin]);
    expect(textsOf(begin.replace(tool.name, 'weigh')).length).toBeGreaterThan(5);
  });

  test('has an id for each piece', () => {
    const { vocab } = tokenizer.model as { vocab: Record<string, number> };
    expect(new Set(Object.values(vocab)).size).toBe(Object.keys(vocab).length);
    expect(vocabularySize).toBeGreaterThan(1000);
  });

  test('has a template that names the tools once, with or without a system message', () => {
    const user = { role: 'user', content: 'Hello' } as const;
    const system = { role: 'system', content: 'Be brief.' } as const;
    const tools = [{ ...tool, name: 'weigh', inputSchema: { properties: { box: {}, unit: {} } } }];
    const turn = '<|im_start|>user Hello<|im_end|><|im_start|>assistant';
    expect(chat.render({ messages: [system, user], tools })).toBe(
      `<|im_start|>system Be brief. weigh(box, unit)<|im_end|>${turn}`,
    );
    expect(chat.render({ messages: [user], tools })).toBe(
      `<|im_start|>system weigh(box, unit)<|im_end|>${turn}`,
    );
    expect(chat.render({ messages: [user], tools: [] })).toBe(turn);
  });
});
