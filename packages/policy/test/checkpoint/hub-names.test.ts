/** Names of the Hugging Face Hub where a policy takes a folder, against a stand-in of the Hub. */
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type DownloadPlan, namedPolicy, watchDownloads } from '@toolenv/core/plugins';
import { loadPolicy } from '@toolenv/policy';
import { openChat } from '@toolenv/policy/chat';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { StandInHub } from '../../../hub/test/stand-in-hub.ts';
import { tokenTexts } from '../../src/checkpoint/token-texts.ts';
import transformer from '../../src/transformer-v1.ts';

const tiny = resolve(import.meta.dirname, '../../../checkpoints/tiny');
const name = 'toolenv/tiny-chat';

let hub: StandInHub;
let home: string;
let files: Record<string, Buffer>;
let commit: string;
beforeEach(async () => {
  hub = await new StandInHub().listen();
  ({ commit, files } = await hub.addFolder(name, tiny));
  home = await mkdtemp(join(tmpdir(), 'toolenv-hub-names-'));
  for (const [variable, value] of Object.entries(hub.variables(home))) vi.stubEnv(variable, value);
});
afterEach(async () => {
  hub.close();
  await rm(home, { recursive: true, force: true });
});

test('loadPolicy opens a model by its name, and says before what training it takes', async () => {
  const plans: DownloadPlan[] = [];
  onTestFinished(
    watchDownloads((plan) => {
      plans.push(plan);
      return { progress() {}, end() {} };
    }),
  );
  const learner = { lora: { rank: 4 } };
  await using policy = await loadPolicy(`hf:${name}`, { learner });
  expect(policy.spec.name).toBe(name);
  expect(policy.revision).toBe(commit);
  expect(plans).toHaveLength(1);
  expect(plans[0]!.memory).toEqual(policy.memory);
  await using local = await loadPolicy(tiny, { learner });
  expect(local.revision).toBeUndefined();
  expect(policy.model.weights['model.norm.weight']!.data).toEqual(
    local.model.weights['model.norm.weight']!.data,
  );
  await policy.save(join(home, 'saved'));
  const adapter = await readFile(join(home, 'saved/adapter/adapter_config.json'), 'utf8');
  expect(JSON.parse(adapter)).toMatchObject({ base_model_name_or_path: name, r: 4 });
  await using again = await loadPolicy(name, { revision: commit });
  expect(again.revision).toBe(commit);
  expect(hub.parts('storage')).toHaveLength(1);
});

test('openChat and the texts of tokens need no weights', async () => {
  const { chat } = await openChat(name);
  expect(chat.vocabulary).toEqual((await openChat(tiny)).chat.vocabulary);
  const ids = Int32Array.of(20, 30, 40);
  expect((await tokenTexts(`${name}@main`))(ids)).toEqual((await tokenTexts(tiny))(ids));
  expect(hub.parts('storage')).toEqual([]);
});

test('a folder counts before a name', async () => {
  const before = process.cwd();
  process.chdir(home);
  onTestFinished(() => process.chdir(before));
  const { mkdir } = await import('node:fs/promises');
  await mkdir('toolenv');
  await symlink(tiny, name);
  await using policy = await loadPolicy(name);
  expect(policy.revision).toBeUndefined();
  expect(hub.seen).toEqual([]);
});

test.each([
  [
    'no-such-folder',
    /No checkpoint at no-such-folder.*name a Hugging Face folder, or a model of the Hugging Face Hub/,
  ],
  [
    'no-such/folder',
    /no-such\/folder is not a local path, and .* has no such model.*correct the path or the name/,
  ],
])('%s is neither', async (text, message) => {
  await expect(loadPolicy(text)).rejects.toThrow(message);
});

test.each([
  ['of another architecture', { architectures: ['MambaForCausalLM'], model_type: 'mamba' }],
  ['that is quantized', { quantization_config: { bits: 4 } }],
])('a model %s is refused before its weights come', async (_, change) => {
  const config = JSON.stringify({ ...JSON.parse(files['config.json']!.toString()), ...change });
  hub.add('toolenv/other', { ...files, 'config.json': config });
  await expect(loadPolicy('toolenv/other')).rejects.toMatchObject({ code: 'usage.checkpoint_unsupported' });
  expect(hub.parts('storage')).toEqual([]);
});

test('the plugin opens the revision that a resumed run had', async () => {
  const next = hub.add(name, { ...files, 'README.md': Buffer.from('newer') });
  const open = (checkpoint: string, revision?: string) =>
    transformer.open(
      { checkpoint, runtime: 'onnx', loraRank: 0, gradientCheckpointing: false },
      { seed: 1, revision },
    );
  for (const [text, asked, expected] of [
    [name, undefined, next],
    [name, commit, commit],
    [`${name}@main`, commit, next],
  ] as const) {
    const policy = await open(text, asked);
    expect(policy.revision).toBe(expected);
    await policy.close?.();
  }
});

test.each([
  ['Qwen/Qwen3-0.6B', { checkpoint: 'Qwen/Qwen3-0.6B' }],
  ['hf:lmsys/some-v1', { checkpoint: 'hf:lmsys/some-v1' }],
  ['hf:Qwen/Qwen3-0.6B@main', { checkpoint: 'hf:Qwen/Qwen3-0.6B@main' }],
])('%s names the policy that opens checkpoints', (text, preset) => {
  expect(namedPolicy(text)).toEqual({ ref: '@toolenv/policy/transformer-v1', preset });
});
