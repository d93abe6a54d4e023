/** The files that toolenv writes follow their schemas and contain no secrets from the environment variables. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnv, type Tool, text } from '@toolenv/core';
import { listPlugins } from '@toolenv/core/plugins';
import { recordTools } from '@toolenv/core/recording';
import { validate, type WireSchemaName, wireSchemas } from '@toolenv/core/schemas';
import { recordEpisodes } from '@toolenv/core/wrappers';
import { saveCheckpoint } from '@toolenv/training/runs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { climb, LadderEnv, openLadder } from '../../core/test/ladder-env.ts';
import { climber, play } from '../../core/test/ladder-play.ts';
import { checkEnv } from '../src/index.ts';
import { climbing, ladderDefinition } from './env/broken-envs.ts';
import { TableLearner } from './table-model.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-files-'));
});
afterAll(() => rm(folder, { recursive: true }));

function mistakes(name: WireSchemaName, value: unknown) {
  return validate(wireSchemas[name], value);
}

async function lines(file: string): Promise<unknown[]> {
  return (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('a recording and a file of episodes follow their schemas, and secrets are redacted', async () => {
  const [key, secret] = ['LADDER_API_KEY', 'k-93ab57d1c0ffee4842'];
  vi.stubEnv(key, secret);
  const leaky: Tool = {
    ...climb,
    async execute({ rungs }) {
      if (rungs === 9) throw new Error(`refused: ${key}=${process.env[key]}`);
      return { ...text(`used ${process.env[key]}`), structuredContent: { env: { [key]: process.env[key] } } };
    },
  };
  const recording = join(folder, 'calls.jsonl');
  const episodes = join(folder, 'episodes.jsonl');
  const [recorder] = await recordTools([leaky], recording);
  await play(
    openLadder(() => recordEpisodes(new LadderEnv(recorder!), episodes)),
    climber(),
    [2],
  );
  vi.unstubAllEnvs();

  const recorded = await lines(recording);
  expect(recorded.length).toBe(3);
  for (const line of recorded) expect(mistakes('tool-recording', line)).toEqual([]);
  expect(mistakes('tool-recording', { ...(recorded[1] as object), result: undefined })).not.toEqual([]);
  expect(await readFile(recording, 'utf8')).not.toContain(secret);
  expect(await readFile(recording, 'utf8')).toContain('[redacted]');
  for (const line of await lines(episodes)) expect(mistakes('trajectory', line)).toEqual([]);
});

test('the state of a checkpoint follows its schema', async () => {
  const saved = await saveCheckpoint(folder, new TableLearner(), { step: 3, seed: 1, memory: { kl: 0.2 } });
  const state: object = JSON.parse(await readFile(join(saved, 'trainer_state.json'), 'utf8'));
  expect(mistakes('checkpoint-state', state)).toEqual([]);
  expect(Object.keys(state)).toEqual(['version', 'step', 'seed', 'memory', 'sha256']);
  expect(mistakes('checkpoint-state', { ...state, sha256: { table: 'short' } })).toHaveLength(1);
});

test('reports follow their schema, with and without findings', async () => {
  const options = { tools: climbing, actions: 20, skip: ['ENV-34'] as const };
  const good = await checkEnv(ladderDefinition(), options);
  const broken = await checkEnv(ladderDefinition({ definition: { oracle: () => () => 'done' } }), options);
  expect(broken.findings.map(({ rule }) => rule)).toEqual(['ENV-32']);
  for (const report of [good, broken])
    expect(mistakes('report', JSON.parse(JSON.stringify(report)))).toEqual([]);
});

test('the list of plugins follows its schema', () => {
  const plugins = listPlugins(import.meta.dirname);
  expect(plugins.map(({ ref }) => ref)).toContain('@toolenv/envs-qa/bridge-v1');
  for (const plugin of plugins) expect(mistakes('plugin-info', plugin)).toEqual([]);
});

test('an open environment has the capabilities of its definition', async () => {
  const capabilities = { networked: true };
  const open = await openEnv(ladderDefinition({ definition: { capabilities } }), {}, { tools: climbing });
  expect(open.capabilities).toEqual(capabilities);
  await open.close();
});
