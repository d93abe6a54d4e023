/** The README's command: it trains without an environment, and its metrics have known names. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { metricNames } from '@toolenv/training';
import { expect, test } from 'vitest';
import { runCliIn } from '../../cli/test/run-cli.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');

test('the README’s command trains on a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sft-cli-'));
  try {
    const data = join(folder, 'demonstrations.jsonl');
    const messages = [
      { role: 'user', content: 'Who leads?' },
      { role: 'assistant', content: '<answer>Who</answer>' },
    ];
    await writeFile(data, `${JSON.stringify({ messages })}\n`.repeat(3));
    const words = /^npx toolenv (train .*)$/m.exec(readme)![1]!.split(' ');
    const values: Record<string, string> = {
      'runs/oracle/trajectories.jsonl': data,
      'node_modules/@toolenv/checkpoints/tiny': 'packages/checkpoints/tiny',
      'runs/sft': join(folder, 'run'),
    };
    const given = words.map((word) => values[word] ?? word);
    const { stdout } = await runCliIn(root, ...given, '--batch-size', '2', '--json');
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ type, step, of }) => [type, step, of])).toEqual([
      ['update', 1, 2],
      ['update', 2, 2],
      ['checkpoint', 2, undefined],
    ]);
    for (const { metrics = {} } of events)
      for (const name of Object.keys(metrics)) expect(Object.keys(metricNames)).toContain(name);
  } finally {
    await rm(folder, { recursive: true });
  }
}, 60_000);
