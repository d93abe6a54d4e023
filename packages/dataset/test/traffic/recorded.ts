/** Recorded conversations for tests, and the tasks that become of them. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type TrafficOptions,
  type TrafficSummary,
  type TrafficTask,
  writeTrafficTasks,
} from '@toolenv/dataset';
import { onTestFinished } from 'vitest';

export type Line = Record<string, unknown>;

export interface Made {
  summary: TrafficSummary;
  /** By split. */
  tasks: Partial<Record<'train' | 'validation' | 'test', TrafficTask[]>>;
  /** All bytes of all files, with the names of the files. */
  bytes: string;
}

/** A conversation of one question and one answer. */
export function talk(question: string, more: Line = {}, answer = 'Yes.'): Line {
  const messages = [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ];
  return { messages, ...more };
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-traffic-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes lines, makes tasks of them, and reads the files. */
export async function made(
  lines: readonly Line[] | string,
  options: Partial<TrafficOptions> = {},
): Promise<Made> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-traffic-'));
  try {
    const captured = join(folder, 'captured.jsonl');
    const out = join(folder, 'tasks');
    await writeFile(
      captured,
      typeof lines === 'string' ? lines : lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
    const summary = await writeTrafficTasks({ captured: [captured], out, ...options });
    const tasks: Made['tasks'] = {};
    let bytes = '';
    for (const name of (await readdir(out)).sort()) {
      const text = await readFile(join(out, name), 'utf8');
      bytes += `${name}\n${text}`;
      const split = name.replace('.jsonl', '') as 'train';
      tasks[split] = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    }
    return { summary, tasks, bytes };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The tasks of all splits. */
export function allTasks({ tasks }: Made): TrafficTask[] {
  return Object.values(tasks).flat();
}
