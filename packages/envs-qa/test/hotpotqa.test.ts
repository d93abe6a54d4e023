import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv, type ToolFactory } from '@toolenv/core';
import {
  bridgeQuestions,
  createQuestions,
  createWorld,
  type QaRecord,
  type QaTask,
  readRecords,
  writeRecords,
} from '@toolenv/envs-qa';
import hotpotqa from '@toolenv/envs-qa/hotpotqa-v1';
import { createSearchTool } from '@toolenv/tools-search';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const tools = { search: createSearchTool as ToolFactory };
const records = createQuestions(bridgeQuestions, createWorld(1), 'validation', 300);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-hotpotqa-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The record as a task, which leaves its context to the search. */
function asked({ context: _, ...task }: QaRecord): QaTask {
  return task;
}

async function file(text: string): Promise<string> {
  const path = join(folder, 'records.json');
  await writeFile(path, text);
  return path;
}

describe('reading records', () => {
  test('returns the records that were written', async () => {
    const path = join(folder, 'written.json');
    await writeRecords(path, records);
    expect(await readRecords(path)).toEqual(records);
  });

  test('accepts an array on one line, JSON lines, a byte order mark, and braces in strings', async () => {
    const odd = { ...records[0]!, question: 'Is "{]\\" odd? Ünï {' };
    const two = [odd, records[1]!];
    expect(await readRecords(await file(JSON.stringify(two)))).toEqual(two);
    expect(await readRecords(await file(`\ufeff${JSON.stringify(two, null, 2)}`))).toEqual(two);
    expect(await readRecords(await file(two.map((record) => JSON.stringify(record)).join('\n')))).toEqual(
      two,
    );
  });

  test('accepts any string', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), async (question) => {
        const record = { ...records[0]!, question };
        expect(await readRecords(await file(JSON.stringify([record])))).toEqual([record]);
      }),
      { numRuns: 50 },
    );
  });

  test.each<[string, (record: QaRecord) => unknown, string]>([
    ['a missing answer', ({ answer: _, ...rest }) => rest, '/answer must have required property'],
    [
      'an empty question',
      (record) => ({ ...record, question: '' }),
      '/question must have at least 1 character',
    ],
    [
      'a wrong fact',
      (record) => ({ ...record, supporting_facts: [['A', 'B']] }),
      '/supporting_facts/0/1 must be integer',
    ],
    [
      'a wrong paragraph',
      (record) => ({ ...record, context: [['A', 'text']] }),
      '/context/0/1 must be array',
    ],
  ])('describes %s in one line and says how to correct it', async (_, damage, description) => {
    const path = await file(JSON.stringify([records[0], damage(records[1]!)]));
    const error = await readRecords(path).catch((thrown) => thrown);
    expect(error.code).toBe('usage.broken_record');
    expect(error.message).toContain(`${path}, record 2 (_id "${records[1]!._id}"): ${description}`);
    expect(error.message).toMatch(/Make "\w+" .*, or remove the record\.$/);
    expect(error.message).not.toContain('\n');
  });

  test.each([
    ['text', 'hello', 'usage.broken_file'],
    ['half a file', '[{"_id": "a"', 'usage.broken_file'],
    ['half a record', '[{"_id": }]', 'usage.broken_file'],
    ['no records', '[]', 'usage.broken_file'],
    ['numbers', '[1, 2]', 'usage.broken_file'],
  ])('refuses %s', async (_, text, code) => {
    const error = await readRecords(await file(text)).catch((thrown) => thrown);
    expect(error.code).toBe(code);
    expect(error.message).not.toContain('\n');
  });

  test('refuses a file that does not exist', async () => {
    const path = join(folder, 'nowhere.json');
    await expect(readRecords(path)).rejects.toMatchObject({ code: 'usage.missing_file' });
    await expect(readRecords(path)).rejects.toThrow(path);
  });
});

describe('hotpotqa-v1', () => {
  test('divides one file by a hash, independent of the seed of the run', async () => {
    const path = await file(JSON.stringify(records));
    const [a, b] = await Promise.all([1, 2].map((seed) => openEnv(hotpotqa, { path }, { seed, tools })));
    const { train, validation, test } = a!.tasks;
    const sizes = await Promise.all([train.length, validation.length, test.length]);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(300);
    expect(sizes[0]).toBeGreaterThan(210);
    expect(sizes[1]).toBeGreaterThan(15);
    expect(sizes[2]).toBeGreaterThan(15);
    expect(b!.tasks.test.get(3)).toEqual(a!.tasks.test.get(3));
    await Promise.all([a!.close(), b!.close()]);
  });

  test('accepts separate files for validation and test', async () => {
    const [path, validationPath, testPath] = ['a', 'b', 'c'].map((name) => join(folder, `${name}.json`));
    await writeRecords(path!, records.slice(0, 200));
    await writeRecords(validationPath!, records.slice(200, 250));
    await writeRecords(testPath!, records.slice(250));
    const open = await openEnv(hotpotqa, { path: path!, validationPath, testPath }, { tools });
    expect(open.tasks.train.length).toBe(200);
    expect(open.tasks.validation.get(0)).toEqual(asked(records[200]!));
    expect(open.tasks.test.get(49)).toEqual(asked(records[299]!));
    await open.close();
  });

  test('searches the paragraphs of the contexts', async () => {
    const path = await file(JSON.stringify(records.slice(0, 20)));
    const open = await openEnv(hotpotqa, { path }, { tools });
    const env = open.episode();
    const task = await open.tasks.train.get(0);
    await env.reset({ task, seed: 1 });
    const title = task.supporting_facts[0]![0];
    const call = { id: 'c', name: 'search', arguments: { query: title } };
    const { calls } = await env.step({ text: '', toolCalls: [call], stopReason: 'tool_call' });
    const { context } = records.find(({ _id }) => _id === task._id)!;
    const sentences = new Map(context).get(title)!;
    expect(calls[0]!.text.split('\n')[0]).toBe(`${title}: ${sentences.join(' ')}`);
    await open.close();
  });
});
