/** Attacks on `toolenv tasks`, by the files of recorded conversations that it reads. */
import { execFileSync } from 'node:child_process';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { redactSecrets, type TrafficOptions, writeTrafficTasks } from '@toolenv/dataset';
import { type Attack, holds, thrown, within } from './attack.ts';

const talk = (question: string, more: object = {}) =>
  JSON.stringify({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: 'Yes.' },
    ],
    ...more,
  });

/** @returns The lines of all files of tasks. */
async function made(folder: string, text: string, options: Partial<TrafficOptions> = {}): Promise<string> {
  const captured = [join(folder, 'captured.jsonl')];
  await writeFile(captured[0]!, text);
  const out = join(folder, 'tasks');
  await within(60_000, writeTrafficTasks({ captured, out, ...options }));
  const files = await readdir(out);
  return (await Promise.all(files.map((name) => readFile(join(out, name), 'utf8')))).join('');
}

/** @throws Error unless the work is refused in one line with this code, and no tasks are left. */
async function isRefused(folder: string, code: string, work: () => Promise<unknown>): Promise<void> {
  const error = await thrown(work);
  holds(ToolEnvError.isInstance(error) && error.code === code, `threw ${error}`);
  holds(!error.message.includes('\n') && error.message.length < 1_000, `said ${error.message}`);
  const left = (await readdir(folder)).filter((name) => name.startsWith('tasks'));
  holds(left.length === 0, `left ${left}`);
}

export const traffic: Attack[] = [
  {
    name: 'torn lines',
    attack: 'a file of conversations is torn in its last line, or in a line before it',
    expected: 'the last line is left out, and a line before it is refused by its number',
    async run(folder) {
      await isRefused(folder, 'usage.broken_record', () => made(folder, `{"messages":[{"ro\n${talk('A')}\n`));
      const tasks = await made(folder, `${talk('A')}\n{"messages":[{"role":"user","content":"é`.slice(0, -1));
      holds(tasks.trim().split('\n').length === 1, `made ${tasks}`);
    },
  },
  {
    name: 'line of 1 GB',
    attack: 'a file of conversations has a line of 1 GB',
    expected: 'it is refused, and memory stays below 400 MB more',
    async run(folder) {
      const captured = join(folder, 'captured.jsonl');
      await writeFile(captured, `${talk('A')}\n{"messages":[{"role":"user","content":"`);
      // A hole in the file: it takes no room on the disk.
      await truncate(captured, 2 ** 30);
      const before = process.memoryUsage().rss;
      await isRefused(folder, 'usage.broken_file', () =>
        writeTrafficTasks({ captured: [captured], out: join(folder, 'tasks') }),
      );
      const more = (process.memoryUsage().rss - before) / 1e6;
      holds(more < 400, `took ${more.toFixed(0)} MB`);
    },
  },
  {
    name: 'pipe in the place of a file',
    attack: 'the file of conversations is a pipe that nobody writes, or a device without an end',
    expected: 'both are refused at once',
    async run(folder) {
      const pipe = join(folder, 'captured.jsonl');
      execFileSync('mkfifo', [pipe]);
      for (const captured of [pipe, '/dev/zero']) {
        await isRefused(folder, 'usage.missing_file', () =>
          within(10_000, writeTrafficTasks({ captured: [captured], out: join(folder, 'tasks') })),
        );
      }
    },
  },
  {
    name: 'deep line',
    attack: 'a line has 100,000 levels of arrays, or of objects in a schema',
    expected: 'it is refused',
    async run(folder) {
      const arrays = `{"messages":${'['.repeat(1e5)}${']'.repeat(1e5)}}\n`;
      const objects = talk('A', { tools: [0] }).replace('[0]', `[${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}]`);
      for (const text of [arrays, objects])
        await isRefused(folder, 'usage.broken_record', () => made(folder, text));
    },
  },
  {
    name: 'keys of the prototype',
    attack: 'users, tools, roles and fields are called __proto__ and constructor',
    expected: 'no prototype changes, users and tools are as others, and roles are refused',
    async run(folder) {
      const tool =
        '{"type":"function","function":{"name":"__proto__","parameters":{"__proto__":{"polluted":1},"constructor":{}}}}';
      const more = `"user":"__proto__","tools":[${tool}],"__proto__":{"polluted":1}`;
      const lines = ['A', 'B'].map((question) => talk(question).replace(/}$/, `,${more}}`));
      const tasks = await made(folder, lines.join('\n'), {
        ...{ splitBy: 'user', redact: [redactSecrets], nearDuplicates: 0.5 },
      });
      holds(tasks.split('\n').length === 3, `made ${tasks}`);
      holds(tasks.includes('"parameters":{"__proto__":{"polluted":1},"constructor":{}}'), `made ${tasks}`);
      holds(!('polluted' in {}), 'a prototype has changed');
      const role = '{"messages":[{"role":"__proto__","content":"A"}]}';
      const error = await thrown(() => made(join(folder), role, { out: join(folder, 'others') }));
      holds(ToolEnvError.isInstance(error) && error.code === 'usage.broken_record', `threw ${error}`);
    },
  },
  {
    name: 'secret in every field',
    attack: 'a line has keys in every field, name and text, and the built-in redaction is on',
    expected: 'no file and no error has a key',
    async run(folder) {
      const key = 'sk-chaos0123456789abcdef';
      const call = {
        id: key,
        type: 'function',
        function: { name: key, arguments: JSON.stringify({ [key]: key }) },
      };
      const line = {
        messages: [
          { role: 'system', content: key, name: key },
          { role: 'user', content: `(${key})`, [key]: key },
          { role: 'assistant', content: key, tool_calls: [call] },
          { role: 'tool', content: key, tool_call_id: key },
          { role: 'assistant', content: `Bearer ${key}` },
        ],
        tools: [
          {
            [key]: [key],
            function: { name: key, description: key, parameters: { properties: { [key]: {} } } },
          },
        ],
        user: key,
        [key]: { [key]: key },
      };
      const options = { redact: [redactSecrets], score: () => 1 };
      const tasks = await made(folder, JSON.stringify(line), options);
      holds(tasks.includes('[redacted]') && !tasks.includes('sk-chaos'), `made ${tasks}`);
      const broken = JSON.stringify({ ...line, tools: key });
      const error = await thrown(() => made(folder, broken, { ...options, out: join(folder, 'others') }));
      holds(!String(error).includes('sk-chaos'), `said ${error}`);
    },
  },
  {
    name: 'texts that slow patterns down',
    attack: 'texts of 256 KB are made to let patterns of secrets and of words take quadratic time',
    expected: 'they are read within a minute',
    async run(folder) {
      const pieces = [
        'a.',
        ' ',
        'eyJaaaaaaaa-',
        'bearer \t',
        '://a:',
        '-----BEGIN PRIVATE KEY',
        'sk-',
        'password',
        '"',
        '\\',
        '@a.',
        '界',
      ];
      const lines = pieces.map((piece) => talk(`x${piece.repeat(2 ** 18 / piece.length)}`));
      await made(folder, lines.join('\n'), { redact: [redactSecrets], nearDuplicates: 0.5 });
    },
  },
  {
    name: 'many tasks that are alike',
    attack: '5,000 tasks of which any two share most of their words',
    expected: 'near-duplicates are found within a minute',
    async run(folder) {
      const common = Array.from({ length: 40 }, (_, n) => `word${n}`).join(' ');
      const lines = Array.from({ length: 5_000 }, (_, n) => talk(`${common} ${n} ${n * 7} ${n * 11}`));
      await writeFile(join(folder, 'many.jsonl'), lines.join('\n'));
      const options = { captured: [join(folder, 'many.jsonl')], out: join(folder, 'tasks') };
      const { nearDuplicates } = await within(60_000, writeTrafficTasks({ ...options, nearDuplicates: 0.7 }));
      holds(nearDuplicates > 2_500, `found ${nearDuplicates}`);
    },
  },
];
