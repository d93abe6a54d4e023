/** `toolenv tasks` on what `toolenv capture` records: counts, redactions, scores and errors. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCli } from '../run-cli.ts';

const standIn = '@toolenv/judge/stand-in-v1';

async function recorded(more = ''): Promise<{ folder: string; captured: string; out: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-tasks-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const talk = (question: string, answer: string, user: string) =>
    JSON.stringify({
      messages: [
        { role: 'user', content: question },
        { role: 'assistant', content: answer },
      ],
      time: '2026-01-02T00:00:00.000Z',
      user,
    });
  const lines = [
    talk('How long is sea?', 'Three.', 'ada'),
    talk(' How long\nis sea?', 'It has three letters.', 'ada'),
    talk('My key is sk-0123456789abcdef.', 'I see.', 'ada'),
    talk('A private matter.', 'I see.', 'ada'),
  ];
  const captured = join(folder, 'captured.jsonl');
  await writeFile(captured, `${lines.join('\n')}\n${more}`);
  return { folder, captured, out: join(folder, 'tasks') };
}

it('writes the tasks of each split, redacted and judged, and prints the counts', async () => {
  const { folder, captured, out } = await recorded('{"messages":[{"ro');
  const redaction = join(folder, 'redaction.mjs');
  await writeFile(redaction, "export default (text) => (text.includes('private') ? null : text);\n");
  const flags = [
    '--redact',
    'secrets',
    '--redact',
    redaction,
    '--judge',
    standIn,
    '--near-duplicates',
    '0.9',
  ];
  const { code, stdout, stderr } = await runCli(
    'tasks',
    captured,
    '--out',
    out,
    ...flags,
    '--split-by',
    'user',
    '--test',
    '0',
    '--validation',
    '0',
  );
  expect(stderr).not.toContain('toolenv:');
  expect(code).toBe(0);
  expect(stdout).toBe(
    `5 conversations
  duplicates       1
  near-duplicates  0
  dropped          2  (1 by the redaction, 1 half-written)
  scored           3

split  tasks  conversations  first       last        file
train      2              3  2026-01-02  2026-01-02  ${out}/train.jsonl
`,
  );
  expect(await readdir(out)).toEqual(['train.jsonl']);
  const tasks = (await readFile(join(out, 'train.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(tasks.map(({ messages }) => messages[0].content).sort()).toEqual([
    expect.stringMatching(/^ ?How long\sis sea\?$/),
    'My key is [redacted].',
  ]);
  const best = tasks.find(({ conversations }) => conversations === 2);
  expect(best.reference).toBe('It has three letters.');
  expect(best.scores[0]).toBeGreaterThan(best.scores[1]);
});

it('prints JSON, and takes a function as the score', async () => {
  const { folder, captured, out } = await recorded();
  const score = join(folder, 'score.mjs');
  await writeFile(score, "export default ({ text }) => (text.includes('Three') ? 1 : null);\n");
  const { code, stdout } = await runCli('tasks', captured, '--out', out, '--score', score, '--json');
  expect(code).toBe(0);
  const summary = JSON.parse(stdout);
  expect(summary).toMatchObject({ conversations: 4, duplicates: 1, scored: 1, notScored: 3 });
  const counts = Object.values(summary.splits) as { tasks: number; conversations: number }[];
  expect(counts.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(3);
  expect(counts.reduce((sum, { conversations }) => sum + conversations, 0)).toBe(4);
});

it('a judge that may be asked no more ends the command, and its cache keeps what was paid for', async () => {
  const { folder, captured, out } = await recorded();
  const cache = join(folder, 'verdicts.jsonl');
  const flags = ['tasks', captured, '--out', out, '--judge', standIn, '--judge-cache', cache];
  const ended = await runCli(...flags, '--judge-calls', '2', '--judge-concurrency', '1');
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('The judge has been asked its 2 times');
  expect(existsSync(out)).toBe(false);
  const { code } = await runCli(...flags, '--judge-calls', '2');
  expect(code).toBe(0);
});

it.each([
  [['--split-by', 'day'], '--split-by day: give task, user or time'],
  [['--near-duplicates', '0.2'], '--near-duplicates 0.2: give a number from 0.5 to 1'],
  [['--validation', '0.6', '--test', '0.6'], 'leave nothing to train'],
  [['--redact', 'none.js'], '--redact none.js: there is no such file'],
  [['--score', 'a.js', '--judge', standIn], '--score and --judge both score'],
])('refuses %j in one line', async (flags, message) => {
  const { captured, out } = await recorded();
  const { code, stdout, stderr } = await runCli('tasks', captured, '--out', out, ...flags);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.split('\n').at(-2)).toMatch(/^toolenv: /);
  expect(stderr).toContain(message);
  expect(existsSync(out)).toBe(false);
});

it('names the line that is no conversation, and shows nothing of it', async () => {
  const { captured, out } = await recorded('{"text":"sk-secret-0123456789"}\n');
  const { code, stderr } = await runCli('tasks', captured, '--out', out);
  expect(code).toBe(2);
  expect(stderr).toContain('captured.jsonl, line 5: messages must be a list of messages');
  expect(stderr).not.toContain('sk-secret');
});
