/** Adapters without their base model open as policies; adapters that cannot are refused by name. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createRng } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { openChat } from '@toolenv/policy/chat';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { StandInHub } from '../../../hub/test/stand-in-hub.ts';
import { partOf, readAdapterConfig, writeAdapter } from '../../src/checkpoint/adapter.ts';
import { tokenTexts } from '../../src/checkpoint/token-texts.ts';
import { type Tensors, tensor } from '../../src/runtime/runtime.ts';
import { expectSame } from '../expect-same.ts';

const tiny = resolve(import.meta.dirname, '../../../checkpoints/tiny');
const matrix = 'model.layers.1.self_attn.k_proj.weight';

let home: string;
let weights: Tensors;
beforeAll(async () => {
  weights = await weightsOf(tiny);
});
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'toolenv-adapter-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function weightsOf(name: string): Promise<Tensors> {
  await using policy = await loadPolicy(name);
  return policy.model.weights;
}

/** A and B of `matrix` with ones, so that B · A has the rank everywhere. */
function ones(rank: number, name: string = matrix): Tensors {
  const [out, into] = weights[matrix]!.dims as readonly [number, number];
  return {
    [partOf(name, 'a')]: tensor(new Float32Array(rank * into).fill(1), [rank, into]),
    [partOf(name, 'b')]: tensor(new Float32Array(out * rank).fill(1), [out, rank]),
  };
}

/** A folder with an adapter of `base`. */
async function adapterOn(
  base: string,
  name: string,
  fields: object = {},
  tensors = ones(2),
): Promise<string> {
  const folder = join(home, name);
  await writeAdapter(folder, tensors, { base_model_name_or_path: base, r: 2, lora_alpha: 6, ...fields });
  return folder;
}

/** What `matrix` has more than that of the tiny policy; its other weights are equal. */
async function added(name: string): Promise<number> {
  const found = await weightsOf(name);
  expectSame({ ...found, [matrix]: weights[matrix]! }, weights);
  const { data } = weights[matrix]!;
  const differences = found[matrix]!.data.map((value, index) => value - data[index]!);
  const [first] = differences as Float32Array;
  expect(Math.max(...differences.map((difference) => Math.abs(difference - first!)))).toBeLessThan(1e-5);
  return first!;
}

test.each([
  // B · A is 2, and alpha / rank 3.
  [{}, 6],
  [{ use_rslora: true }, 12 / Math.sqrt(2)],
  [{ alpha_pattern: { 'self_attn.k_proj': 1 } }, 1],
  [{ alpha_pattern: { proj: 1, 'layers.0.self_attn.k_proj': 1 } }, 6],
  // The file has the rank.
  [{ r: 64, rank_pattern: { k_proj: 2 } }, 6],
  [{ bias: 'none', modules_to_save: null, use_dora: false, init_lora_weights: true }, 6],
])('an adapter with %j is added to its base model', async (fields, expected) => {
  expect(await added(await adapterOn(tiny, 'adapter', fields))).toBeCloseTo(expected, 4);
});

test('an adapter of an adapter is added too', async () => {
  const first = await adapterOn(tiny, 'first');
  expect(await added(await adapterOn(first, 'second'))).toBeCloseTo(12, 4);
});

test('an adapter may have a tokenizer and a template of its own', async () => {
  const adapter = await adapterOn(tiny, 'adapter');
  const ids = Int32Array.of(20, 30, 40);
  expect((await tokenTexts(adapter))(ids)).toEqual((await tokenTexts(tiny))(ids));
  const prompt = { messages: [{ role: 'user' as const, content: 'Hello' }], tools: [] };
  const { chat } = await openChat(adapter);
  expect(chat.render(prompt)).toBe((await openChat(tiny)).chat.render(prompt));
  await cp(join(tiny, 'tokenizer.json'), join(adapter, 'tokenizer.json'));
  const config = JSON.parse(await readFile(join(tiny, 'tokenizer_config.json'), 'utf8'));
  const own = { ...config, chat_template: 'mine: {{ messages[0].content }}' };
  await writeFile(join(adapter, 'tokenizer_config.json'), JSON.stringify(own));
  expect((await openChat(adapter)).chat.render(prompt)).toBe('mine: Hello');
  await using policy = await loadPolicy(adapter);
  expect(policy.chat.render(prompt)).toBe('mine: Hello');
});

test('a learner of an adapter saves a folder that opens as the policy that it was', async () => {
  const folder = join(home, 'step-2');
  await using policy = await loadPolicy(tiny, { learner: { lora: { rank: 2 } } });
  const rng = createRng(1, 'row');
  const tokens = Int32Array.from({ length: 12 }, () => rng.int(policy.model.config.vocab_size));
  const mask = new Uint8Array(12).fill(1, 4);
  await policy.learner.backward(
    { rows: [{ tokens, mask }] },
    { dLogprobs: [Float32Array.from(mask, (bit) => -bit)] },
  );
  await policy.learner.step({ learningRate: 0.01 });
  await policy.learner.save(folder);
  expectSame(await weightsOf(folder), policy.model.weights);
  await using again = await loadPolicy(folder);
  expect(again.chat.endTokens).toEqual(policy.chat.endTokens);
});

test.each([
  [{ peft_type: 'IA3' }, 'peft_type "IA3"'],
  [{ bias: 'all' }, 'bias "all"'],
  [{ use_dora: true }, 'use_dora true'],
  [{ fan_in_fan_out: true }, 'fan_in_fan_out true'],
  [{ modules_to_save: ['lm_head'] }, 'modules_to_save ["lm_head"]'],
  [{ init_lora_weights: 'pissa_niter_16' }, 'init_lora_weights "pissa_niter_16"'],
  [{ target_parameters: ['experts.gate_up_proj'] }, 'target_parameters ["experts.gate_up_proj"]'],
  [{ alpha_pattern: { '(a+)+': 1 } }, 'the expression (a+)+ in alpha_pattern'],
])('an adapter with %j is refused', async (fields, what) => {
  const adapter = await adapterOn(tiny, 'adapter', fields);
  await expect(loadPolicy(adapter)).rejects.toMatchObject({
    code: 'usage.checkpoint_unsupported',
    message: expect.stringContaining(`${join(adapter, 'adapter_config.json')}: ${what} is not supported`),
  });
});

test.each([
  [{ base_model_name_or_path: null }, 'it names no base_model_name_or_path'],
  [{ lora_alpha: 'much' }, 'lora_alpha is no number'],
  [{ alpha_pattern: { k_proj: null } }, 'k_proj is no number'],
  [
    { fan_in_fan_out: JSON.parse(`${'['.repeat(65)}${']'.repeat(65)}`) },
    'it is a value with more than 64 levels',
  ],
])('an adapter with %j is damaged', async (fields, what) => {
  await expect(readAdapterConfig(await adapterOn(tiny, 'adapter', fields))).rejects.toMatchObject({
    code: 'usage.checkpoint_damaged',
    message: expect.stringContaining(what),
  });
});

test('a tensor that fits no matrix is named', async () => {
  const other = ones(2, 'model.layers.99.self_attn.k_proj.weight');
  await expect(loadPolicy(await adapterOn(tiny, 'other', {}, other))).rejects.toMatchObject({
    code: 'usage.checkpoint_unsupported',
    message: expect.stringContaining(
      '"base_model.model.model.layers.99.self_attn.k_proj.lora_A.weight" fits no',
    ),
  });
  const { [partOf(matrix, 'a')]: a } = ones(2);
  const half = { [partOf(matrix, 'a')]: a! };
  await expect(loadPolicy(await adapterOn(tiny, 'half', {}, half))).rejects.toMatchObject({
    code: 'usage.checkpoint_damaged',
    message: expect.stringContaining(
      'lacks "base_model.model.model.layers.1.self_attn.k_proj.lora_B.weight"',
    ),
  });
  const wrong = { ...ones(2), [partOf(matrix, 'b')]: tensor(new Float32Array(4), [2, 2]) };
  await expect(loadPolicy(await adapterOn(tiny, 'wrong', {}, wrong))).rejects.toMatchObject({
    code: 'usage.checkpoint_damaged',
    message: expect.stringContaining('has shape [2,2]'),
  });
});

test('a rank of 0 is refused, and so is a sampler of another program, which would open the folder itself', async () => {
  await expect(loadPolicy(await adapterOn(tiny, 'empty', {}, ones(0)))).rejects.toMatchObject({
    code: 'usage.checkpoint_damaged',
    message: expect.stringContaining('has the rank 0'),
  });
  const openSampler = () => Promise.reject(new Error('must not open'));
  await expect(loadPolicy(await adapterOn(tiny, 'adapter'), { openSampler })).rejects.toMatchObject({
    code: 'usage.checkpoint_unsupported',
    message: expect.stringContaining('is an adapter without its base model, and vLLM needs a whole model'),
  });
});

test('a base model that is missing, or leads back to the adapter, is named', async () => {
  await expect(loadPolicy(await adapterOn('./no/such/base', 'lost'))).rejects.toMatchObject({
    code: 'usage.checkpoint_missing',
    message: expect.stringContaining('names the base model ./no/such/base, which is no folder here'),
  });
  const first = await adapterOn(join(home, 'second'), 'first');
  await adapterOn(first, 'second');
  await expect(loadPolicy(first)).rejects.toMatchObject({
    code: 'usage.checkpoint_damaged',
    message: expect.stringContaining('the base models of its adapters lead back to it'),
  });
});

test('an adapter of the Hub is fetched, and its base model with it', async () => {
  const hub = await new StandInHub().listen();
  try {
    for (const [variable, value] of Object.entries(hub.variables(join(home, 'cache'))))
      vi.stubEnv(variable, value);
    const base = await hub.addFolder('toolenv/tiny-chat', tiny);
    // The branch moves on; the adapter names the commit.
    await hub.addFolder('toolenv/tiny-chat', await adapterOn(tiny, 'nothing'));
    const fields = { revision: base.commit };
    await hub.addFolder('someone/adapter', await adapterOn('toolenv/tiny-chat', 'adapter', fields));
    expect(await added('someone/adapter')).toBeCloseTo(6, 4);
    await using policy = await loadPolicy('someone/adapter');
    expect(policy.spec.name).toBe('someone/adapter');
    await hub.addFolder('someone/pickled', await adapterOn('toolenv/tiny-chat', 'pickled', fields));
    hub.relist = (entries) => entries.filter(({ path }) => path !== 'adapter_model.safetensors');
    await expect(loadPolicy('someone/pickled')).rejects.toMatchObject({
      code: 'usage.checkpoint_unsupported',
      message: expect.stringContaining('someone/pickled has no adapter_model.safetensors'),
    });
  } finally {
    hub.close();
  }
});
