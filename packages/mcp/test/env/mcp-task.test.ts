import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { mcpTaskSchema, ownTaskSchema, readTasks } from '../../src/env/mcp-task.ts';

async function fileOf(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-tasks-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'tasks.jsonl');
  await writeFile(file, text);
  return file;
}

test('fields that are filled with null count as absent', async () => {
  const file = await fileOf('{"prompt": "go", "answer": null, "split": null}\n');
  const { test: tasks } = await readTasks(file, mcpTaskSchema);
  expect(await tasks.get(0)).toEqual({ prompt: 'go' });
  const broken = await fileOf('{"prompt": null}\n');
  await expect(readTasks(broken, mcpTaskSchema)).rejects.toMatchObject({ code: 'usage.mcp_tasks' });
});

test('integers that a number would round are texts of their digits', async () => {
  const file = await fileOf('{"id": 2512292042121000001, "price": 12}\n');
  const { test: tasks } = await readTasks(file, ownTaskSchema);
  expect(await tasks.get(0)).toEqual({ id: '2512292042121000001', price: 12 });
});
