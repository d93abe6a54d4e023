/** Recorded conversations become tasks: what a task has, how splits are kept apart, and what is refused. */
import { execFileSync } from 'node:child_process';
import { readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineToolEnv, openEnv, playTask } from '@toolenv/core';
import { dataset, redactSecrets, type TrafficTask, writeTrafficTasks } from '@toolenv/dataset';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allTasks, type Line, made, talk, temporaryFolder } from '../../test/traffic/recorded.ts';

const names = ['train', 'validation', 'test'] as const;
const users = ['ada', 'ben', 'cy', 'dan', 'eve', '__proto__', 'constructor'];

/** Conversations with few questions, users and times, so that they collide. The last word of an answer is the number of the line. */
const traffic = fc
  .array(
    fc.record({
      question: fc.array(fc.constantFrom('is', 'sea', 'long', ' ', '\n', '日本'), {
        minLength: 1,
        maxLength: 5,
      }),
      system: fc.constantFrom(undefined, 'Be short.', 'Be  short. '),
      tool: fc.constantFrom(undefined, 'search', '__proto__'),
      user: fc.constantFrom(...users),
      day: fc.integer({ min: 1, max: 12 }),
    }),
    { minLength: 12, maxLength: 40 },
  )
  .map((all) =>
    all.map(({ question, system, tool, user, day }, n): Line => {
      const { messages } = talk(question.join(' '), {}, `answer ${n}`);
      return {
        messages: [...(system ? [{ role: 'system', content: system }] : []), ...(messages as object[])],
        ...(tool && { tools: [{ type: 'function', function: { name: tool, parameters: {} } }] }),
        user,
        time: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
      };
    }),
  );
const score = ({ text }: { text: string }) => Number(/\d+$/.exec(text)![0]);
const shares = { validation: 0.3, test: 0.3 };
const plain = (text: string) => text.replace(/\s+/g, ' ').trim();
const keyOf = ({ messages, tools }: Pick<TrafficTask, 'messages' | 'tools'>) =>
  JSON.stringify([messages.map(({ role, content }) => [role, plain(content)]), tools]);

test.each(['task', 'user', 'time'] as const)(
  'split by %s, no two splits share anything, and no task is lost',
  async (splitBy) => {
    await fc.assert(
      fc.asyncProperty(traffic, async (lines) => {
        const result = await made(lines, { splitBy, score, ...shares });
        // The scores say which conversations each split knows.
        const known = names.map((name) => (result.tasks[name] ?? []).flatMap(({ scores }) => scores!));
        const of = (field: 'user' | 'time') =>
          known.map((some) => some.map((n) => lines[n]![field] as string));
        expect(new Set(known.flat()).size).toBe(known.flat().length);
        if (splitBy === 'user') {
          const groups = of('user').map((some) => new Set(some));
          expect(new Set(of('user').flat()).size).toBe(groups.reduce((sum, { size }) => sum + size, 0));
        }
        if (splitBy === 'time') {
          const times = of('time').filter((some) => some.length > 0);
          for (const [n, some] of times.slice(1).entries())
            expect(times[n]!.reduce((a, b) => (a > b ? a : b)) < some.reduce((a, b) => (a < b ? a : b))).toBe(
              true,
            );
        }
        const keys = allTasks(result).map(keyOf);
        expect(new Set(keys).size).toBe(keys.length);
        const asked = lines.map(({ messages, tools }) =>
          keyOf({
            messages: (messages as TrafficTask['messages']).slice(0, -1),
            tools: tools as never,
          }),
        );
        expect(new Set(keys)).toEqual(new Set(asked));
        for (const { scores, conversations, reference } of allTasks(result)) {
          expect(scores).toHaveLength(conversations);
          expect(reference).toBe(`answer ${Math.max(...scores!)}`);
        }
        expect(result.summary.duplicates).toBe(lines.length - keys.length);
      }),
      { numRuns: 25 },
    );
  },
);

test('the result does not depend on the order of the lines, and tasks of tasks are the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      traffic.chain((lines) =>
        fc.tuple(fc.constant(lines), fc.shuffledSubarray(lines, { minLength: lines.length })),
      ),
      fc.constantFrom('task', 'user', 'time'),
      fc.constantFrom(undefined, 0.5, 0.8, 1),
      async ([lines, shuffled], splitBy, nearDuplicates) => {
        const options = { splitBy, nearDuplicates, ...shares } as const;
        const once = await made(lines, { ...options, score });
        expect((await made(shuffled, { ...options, score })).bytes).toBe(once.bytes);
        const again = await made(allTasks(once) as unknown as Line[], { ...options, splitBy: 'task' });
        expect(again.summary).toMatchObject({ duplicates: 0, nearDuplicates: 0 });
        const contents = (tasks: TrafficTask[]) =>
          new Set(
            tasks.map(({ id, messages, tools, time }) => JSON.stringify({ id, messages, tools, time })),
          );
        expect(contents(allTasks(again))).toEqual(contents(allTasks(once)));
      },
    ),
    { numRuns: 25 },
  );
});

test('a user stays in a split when others come', async () => {
  const lines = users.map((user) => talk(`I am ${user}.`, { user }));
  const splitOf = ({ tasks }: Awaited<ReturnType<typeof made>>) =>
    new Map(names.flatMap((name) => (tasks[name] ?? []).map(({ id }) => [id, name] as const)));
  const before = splitOf(await made(lines, { splitBy: 'user', ...shares }));
  const more = Array.from({ length: 300 }, (_, n) => talk(`I am user ${n}.`, { user: `user ${n}` }));
  const after = await made([...more, ...lines], { splitBy: 'user', ...shares });
  for (const [id, name] of before) expect(splitOf(after).get(id)).toBe(name);
  // 307 users at shares of 0.3: within four standard deviations.
  for (const name of ['validation', 'test'] as const) {
    expect(after.summary.splits[name]!.tasks).toBeGreaterThan(60);
    expect(after.summary.splits[name]!.tasks).toBeLessThan(125);
  }
});

test('a task has what the model read first, and the answer before the user speaks again', async () => {
  const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } };
  const messages = [
    { role: 'developer', content: 'Be short.' },
    { role: 'assistant', content: 'Hello!', weight: 0 },
    { role: 'user', content: 'How long is sea?' },
    { role: 'user', content: 'Quickly.' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', content: '3', tool_call_id: 'a' },
    { role: 'assistant', content: 'Three.' },
    { role: 'user', content: 'Thanks.' },
    { role: 'assistant', content: 'Bye.' },
  ];
  const read: string[] = [];
  const result = await made([{ messages, tools: [tool], time: '2026-01-02T03:04:05+01:00', user: 'ada' }], {
    score: ({ text }) => {
      read.push(text);
      return 0.5;
    },
  });
  expect(allTasks(result)).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{22}$/),
      messages: [
        { role: 'system', content: 'Be short.' },
        ...[{ role: 'assistant', content: 'Hello!' }, ...messages.slice(2, 4)],
      ],
      tools: [tool],
      time: '2026-01-02T02:04:05.000Z',
      conversations: 1,
      scores: [0.5],
      reference: 'Three.',
    },
  ]);
  expect(read[0]).toContain(
    'calls look({"at":"sea"})\n\ntool result:\n3\n\nassistant:\nThree.\n\nuser:\nThanks.',
  );
});

test('the best conversation with an answer gives the reference, and null scores nothing', async () => {
  const lines = [
    talk('Q', {}, 'bad 1'),
    talk('Q', {}, ''),
    talk('Q', {}, 'good 3'),
    talk('R', {}, 'unclear'),
  ];
  const value = (text: string) => (text.includes('unclear') ? null : Number(/\d$/.exec(text)?.[0] ?? 9));
  const result = await made(lines, { score: async ({ text }) => value(text), validation: 0, test: 0 });
  const [q, r] = allTasks(result).sort((a, b) => b.conversations - a.conversations);
  expect(q).toMatchObject({ conversations: 3, scores: [9, 3, 1], reference: 'good 3' });
  expect([r!.scores, r!.reference]).toEqual([undefined, undefined]);
  expect(result.summary).toMatchObject({ scored: 3, notScored: 1 });
  await expect(made(lines, { score: () => Number.NaN })).rejects.toMatchObject({ code: 'bug.score' });
});

test('an environment loads the files, packed traffic is read, and conversations of no use are counted', async () => {
  const folder = await temporaryFolder();
  const captured = [join(folder, 'a.jsonl.gz'), join(folder, 'b.jsonl')];
  const lines = [
    talk('One?', { user: 'ada' }),
    talk('Two?'),
    { messages: [{ role: 'system', content: 'No user.' }] },
  ];
  await writeFile(captured[0]!, gzipSync(lines.map((line) => JSON.stringify(line)).join('\r\n')));
  await writeFile(
    captured[1]!,
    `\n${JSON.stringify(talk('One?', { user: 'ada' }))}\n{"messages":[{"role":"us`,
  );
  const out = join(folder, 'new/tasks');
  const summary = await writeTrafficTasks({ captured, out, splitBy: 'user', validation: 0, test: 0 });
  expect(summary).toEqual({
    conversations: 5,
    dropped: { byRedaction: 0, withoutQuestion: 1, withoutUser: 1, withoutTime: 0, halfWritten: 1 },
    duplicates: 1,
    nearDuplicates: 0,
    splits: { train: { file: join(out, 'train.jsonl'), tasks: 1, conversations: 2 } },
  });
  const train = dataset(join(out, 'train.jsonl'), { map: (task: TrafficTask) => task });
  const definition = defineToolEnv({
    name: 'traffic-v1',
    description: 'Answers what users asked.',
    tasks: { train },
    rewards: { said: { kind: 'outcome', score: ({ answer }) => Number(answer !== '') } },
    episode: ({ task }) => ({ messages: task.messages }),
  });
  await using env = await openEnv(definition);
  const { steps, reward } = await playTask(env, await train.get(0), ['Yes.']);
  expect([steps[0]!.observation.messages, reward]).toEqual([[{ role: 'user', content: 'One?' }], 1]);
});

const broken: [what: string, text: string, code: string, message: string][] = [
  [
    'a line of other data',
    '{"text":"old"}\n',
    'usage.broken_record',
    'line 1: messages must be a list of messages',
  ],
  [
    'a torn line before others',
    `{"mess\n${JSON.stringify(talk('Q'))}\n`,
    'usage.broken_record',
    'line 1: it must be a JSON object',
  ],
  ['an array', '[1]\n', 'usage.broken_record', 'line 1: it must be a JSON object'],
  [
    'a role of the prototype',
    '{"messages":[{"role":"constructor","content":""}]}\n',
    'usage.broken_record',
    'messages[0].role must be system, developer, user, assistant or tool',
  ],
  [
    'an image',
    '{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}\n',
    'usage.broken_record',
    'messages[0].content must be a text',
  ],
  [
    'a user that is a number',
    JSON.stringify(talk('Q', { user: 7 })),
    'usage.broken_record',
    'user must be a text',
  ],
  [
    'no time',
    JSON.stringify(talk('Q', { time: 'soon' })),
    'usage.broken_record',
    'time must be a time in ISO 8601',
  ],
  [
    'tools of text',
    JSON.stringify(talk('Q', { tools: ['f'] })),
    'usage.broken_record',
    'tools must be a list of objects',
  ],
  [
    'a call without a name',
    '{"messages":[{"role":"assistant","tool_calls":[{}]}]}\n',
    'usage.broken_record',
    'messages[0].tool_calls[0].function must be an object with the texts name and arguments',
  ],
  [
    'a deep line',
    `{"messages":${'['.repeat(9e4)}${']'.repeat(9e4)}}\n`,
    'usage.broken_record',
    'it must be at most 64 levels of arrays and objects',
  ],
  [
    'a deep schema',
    JSON.stringify(talk('Q', { tools: [0] })).replace('[0]', `[${'{"a":'.repeat(9e4)}1${'}'.repeat(9e4)}]`),
    'usage.broken_record',
    'it must be at most 64 levels of arrays and objects',
  ],
  ['nothing', '\n \n', 'usage.no_tasks', 'it has no whole line'],
  ['UTF-16', '\ufffe', 'usage.no_tasks', 'it has no whole line'],
];

test.each(broken)('%s is refused, and nothing is written', async (_, text, code, message) => {
  const folder = await temporaryFolder();
  const captured = [join(folder, 'captured.jsonl')];
  await writeFile(captured[0]!, text);
  const making = writeTrafficTasks({ captured, out: join(folder, 'tasks') });
  await expect(making).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  expect(await readdir(folder)).toEqual(['captured.jsonl']);
});

test('options that cannot be, and places that are taken, are refused', async () => {
  const folder = await temporaryFolder();
  const captured = [join(folder, 'captured.jsonl')];
  await writeFile(captured[0]!, JSON.stringify(talk('Q')));
  const out = join(folder, 'tasks');
  const make = (options: object) => writeTrafficTasks({ captured, out, ...options });
  const wrong: [object, string, string][] = [
    [{ validation: 0.5, test: 0.5 }, 'usage.bad_option', 'leave nothing to train'],
    [{ splitBy: 'user' }, 'usage.no_tasks', 'no line names its user'],
    [{ splitBy: 'time' }, 'usage.no_tasks', 'no line has a time'],
    [{ redact: [() => null] }, 'usage.no_tasks', 'the redaction drops every conversation'],
    [
      { redact: [() => undefined] },
      'usage.redaction',
      'line 1: the redaction failed (it returned undefined)',
    ],
    [{ out: folder }, 'usage.folder', 'has files'],
    [{ out: captured[0] }, 'usage.folder', 'is a file'],
    [{ captured: [join(folder, 'none.jsonl')] }, 'usage.missing_file', 'that exists'],
    [{ captured: [folder] }, 'usage.missing_file', 'is a folder'],
  ];
  for (const [options, code, message] of wrong)
    await expect(make(options), message).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  execFileSync('mkfifo', [join(folder, 'pipe.jsonl')]);
  for (const endless of [join(folder, 'pipe.jsonl'), '/dev/zero'])
    await expect(make({ captured: [endless] })).rejects.toMatchObject({ code: 'usage.missing_file' });
  const stop = new AbortController();
  stop.abort(new Error('stop'));
  await expect(make({ signal: stop.signal })).rejects.toThrow('stop');
  await make({ out: `${out}/` });
  expect((await readdir(folder)).sort()).toEqual(['captured.jsonl', 'pipe.jsonl', 'tasks']);
  await expect(make({})).rejects.toMatchObject({ code: 'usage.folder' });
});

test('a line of a gigabyte is refused before memory is taken, and nothing is written', async () => {
  const folder = await temporaryFolder();
  const captured = join(folder, 'captured.jsonl');
  await writeFile(captured, `${JSON.stringify(talk('Q'))}\n{"messages":[{"role":"user","content":"`);
  // A hole in the file: it takes no room on the disk.
  await truncate(captured, 2 ** 30);
  const before = process.memoryUsage().rss;
  const making = writeTrafficTasks({ captured: [captured], out: join(folder, 'tasks') });
  await expect(making).rejects.toMatchObject({ code: 'usage.broken_file' });
  expect(process.memoryUsage().rss - before).toBeLessThan(400e6);
  expect(await readdir(folder)).toEqual(['captured.jsonl']);
});

test('texts that tempt patterns of secrets and words, and 5,000 tasks that are alike, are read within a minute', async () => {
  const pieces = 'a. | |eyJaaaaaaaa-|bearer \t|://a:|-----BEGIN PRIVATE KEY|sk-|password|"|\\|@a.|界'.split(
    '|',
  );
  const slow = pieces.map((piece) => talk(`x${piece.repeat(2 ** 18 / piece.length)}`));
  const common = Array.from({ length: 40 }, (_, n) => `word${n}`).join(' ');
  const alike = Array.from({ length: 5_000 }, (_, n) => talk(`${common} ${n} ${n * 7} ${n * 11}`));
  await made(slow, { redact: [redactSecrets], nearDuplicates: 0.5 });
  expect((await made(alike, { nearDuplicates: 0.7 })).summary.nearDuplicates).toBeGreaterThan(2_500);
}, 60_000);
