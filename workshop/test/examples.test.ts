/** Every example runs. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { collect, openEnv, rollout, type Scripted, scriptedPolicy } from '@toolenv/core';
import { expect, test } from 'vitest';
import memoryGraph from '../../examples/memory-graph.ts';

const root = join(import.meta.dirname, '../..');

async function runExample(file: string, ...args: string[]): Promise<string> {
  const flags = ['--import', 'tsx', '--conditions=@toolenv/source', join('examples', file), ...args];
  return (await promisify(execFile)(process.execPath, flags, { cwd: root })).stdout;
}

test('train-from-code.ts trains for two steps and evaluates before and after', async () => {
  const out = await mkdtemp(join(tmpdir(), 'example-'));
  try {
    const printed = (await runExample('train-from-code.ts', out)).trim().split('\n');
    expect(printed).toHaveLength(4);
    expect(printed[0]).toMatch(/^step 1 loss -?\d/);
    expect(printed[1]).toMatch(/^step 2 loss -?\d/);
    expect(printed[2]).toBe(`saved ${join(out, 'checkpoints', 'step-2')}`);
    expect(printed[3]).toMatch(/^exact match 0\.\d+ before, 0\.\d+ after$/);
    expect(await readdir(join(out, 'checkpoints'))).toEqual(['step-2']);
  } finally {
    await rm(out, { recursive: true });
  }
}, 120_000);

test('memory-graph.ts rewards the corrected graph only', async () => {
  const env = await openEnv(memoryGraph);
  const task = { person: 'Ada', from: 'Oslo', to: 'Rome' };
  const relations = (to: string) => [{ from: 'Ada', to, relationType: 'lives in' }];
  const corrected = [
    [{ name: 'delete_relations', arguments: { relations: relations('Oslo') } }],
    [{ name: 'create_relations', arguments: { relations: relations('Rome') } }],
  ];
  const play = async (script: Scripted[]) => {
    const policy = scriptedPolicy(script);
    const episodes = [{ task, group: 0, sample: 0 }];
    const sampling = { maxTokens: 64, temperature: 1 };
    const [played] = await collect(rollout({ env, policy, episodes, concurrency: 1, sampling, seed: 1 }));
    return played!;
  };
  const { reward, steps } = await play([...corrected, 'done']);
  expect(reward).toBe(1);
  expect(steps[0]!.observation.tools.map(({ name }) => name)).not.toContain('read_graph');
  expect((await play([corrected[1]!, 'done'])).reward).toBe(0);
  expect((await play(['done'])).reward).toBe(0);
  await env.close();
}, 60_000);

test('the README lists every example', async () => {
  const page = await readFile(join(root, 'examples/README.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `([^`]+)`/gm)].map(([, file]) => file);
  const files = (await readdir(join(root, 'examples'))).filter((file) => file.endsWith('.ts'));
  expect(listed).toEqual(files);
});
