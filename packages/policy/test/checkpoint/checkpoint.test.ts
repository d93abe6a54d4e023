/** Hugging Face folders: reading what was written, configurations of transformers 5, and errors that name file and tensor. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Checkpoint, readCheckpoint, writeCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { readSafetensors, writeSafetensors } from '../../src/checkpoint/safetensors.ts';
import type { Tensors } from '../../src/runtime/runtime.ts';
import { inTemporaryFolder } from '../tiny-model.ts';
import { wordCheckpoint } from '../word-checkpoint.ts';

/** A temporary folder with a valid checkpoint. */
function folderWith<T>(use: (folder: string) => Promise<T>): Promise<T> {
  return inTemporaryFolder(async (folder) => {
    await writeCheckpoint(folder, wordCheckpoint());
    return use(folder);
  });
}

async function editConfig(folder: string, change: (config: Record<string, unknown>) => void): Promise<void> {
  const file = join(folder, 'config.json');
  const config = JSON.parse(await readFile(file, 'utf8'));
  change(config);
  await writeFile(file, JSON.stringify(config));
}

test('if no configuration names the end of a turn, it comes from tokenizer_config.json', async () => {
  await folderWith(async (folder) => {
    await editConfig(folder, (config) => {
      config.eos_token_id = null;
    });
    expect((await readCheckpoint(folder)).endTokens).toEqual(wordCheckpoint().endTokens);
    await writeFile(join(folder, 'tokenizer_config.json'), '{}');
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_unsupported',
      message: expect.stringMatching(/names no token that ends a turn.*eos_token_id/),
    });
  });
});

test('a written checkpoint is read back: weights, configuration, tokenizer, end tokens', async () => {
  const written = wordCheckpoint();
  await folderWith(async (folder) => {
    const read = await readCheckpoint(folder);
    expect(read.weights).toEqual(written.weights);
    expect(read.config).toMatchObject(written.config);
    expect(read.tokenizer).toEqual(written.tokenizer);
    expect(read.tokenizerConfig).toEqual(written.tokenizerConfig);
    expect(read.endTokens).toEqual(written.endTokens);
    expect(read.files).toEqual(written.files);
  });
});

test('rope_theta is read from rope_parameters, where transformers 5 writes it', async () => {
  await folderWith(async (folder) => {
    await editConfig(folder, (config) => {
      delete config.rope_theta;
      config.rope_parameters = { rope_theta: 5000, rope_type: 'default' };
    });
    expect((await readCheckpoint(folder)).config.rope_theta).toBe(5000);
  });
});

test('chat_template.jinja and generation_config.json take precedence', async () => {
  await folderWith(async (folder) => {
    await writeFile(join(folder, 'chat_template.jinja'), '{{ messages }}');
    await writeFile(join(folder, 'generation_config.json'), '{"eos_token_id": [7, 8]}');
    const { tokenizerConfig, endTokens, files } = await readCheckpoint(folder);
    expect(tokenizerConfig.chat_template).toBe('{{ messages }}');
    expect(endTokens).toEqual([7, 8]);
    expect(files['chat_template.jinja']).toBe('{{ messages }}');
  });
});

test.each([
  [
    'model_type',
    'gemma2',
    /model_type "gemma2".*llama, mistral, qwen2, qwen3, qwen3_moe, qwen3_5_text, lfm2, olmoe, granite, smollm3, olmo2, olmo3, exaone4, gemma3_text, phi3, cohere2/,
  ],
  ['rope_scaling', { type: 'dynamic', factor: 2 }, /rope_scaling.*"dynamic"/],
  [
    'rope_parameters',
    { rope_type: 'longrope' },
    /"longrope" needs a number original_max_position_embeddings/,
  ],
  [
    'rope_scaling',
    { type: 'su', original_max_position_embeddings: 64, short_factor: [1, 0] },
    /short_factor of rope_scaling must be a list of numbers above 0/,
  ],
  ['rope_scaling', { rope_type: 'llama3', factor: 8 }, /"llama3" needs a number low_freq_factor/],
  ['hidden_act', 'gelu', /hidden_act "gelu"/],
  ['model_type', 'gemma3_text', /hidden_activation "relu".*gelu_pytorch_tanh/],
  ['partial_rotary_factor', 0.5, /partial_rotary_factor is 0.5.*not supported in .*use a checkpoint with 1/],
  ['clip_qkv', 8, /clip_qkv is 8/],
  ['rope_parameters', { partial_rotary_factor: 0.75 }, /partial_rotary_factor is 0.75/],
  [
    'rope_parameters',
    { sliding_attention: { rope_type: 'linear' } },
    /rope_type "linear" of sliding_attention/,
  ],
  ['final_logit_softcapping', 30, /final_logit_softcapping is 30/],
  ['attn_logit_softcapping', 50, /attn_logit_softcapping is 50/],
  ['use_bidirectional_attention', true, /use_bidirectional_attention is true/],
  ['layer_types', ['chunked_attention', 'full_attention'], /layer_types has "chunked_attention"/],
  ['quantization_config', { quant_method: 'gptq' }, /config\.json: quantized weights/],
])('a configuration with %s = %j is refused', async (key, value, message) => {
  await folderWith(async (folder) => {
    await editConfig(folder, (config) => {
      config.hidden_activation = 'relu';
      config[key] = value;
    });
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_unsupported',
      message: expect.stringMatching(message),
    });
  });
});

test.each([
  ['num_hidden_layers', 1e9, 'config.json: num_hidden_layers is 1000000000, but .* has only 26 tensors'],
  ['num_hidden_layers', '2', 'num_hidden_layers is "2" and must be integer'],
  ['hidden_size', 1e9, '"model.embed_tokens.weight" has shape \\[275,16\\] instead of \\[275,1000000000\\]'],
  ['hidden_size', [[]], 'hidden_size is \\[\\[\\]\\] and must be integer'],
  ['vocab_size', 2 ** 40, 'vocab_size is 1099511627776 and must be <= 2147483647'],
  ['max_position_embeddings', 1e9, 'max_position_embeddings is 1000000000 and must be <= 2097152'],
  ['num_key_value_heads', 3, 'num_attention_heads is 4 and must be a multiple of num_key_value_heads, 3'],
  ['head_dim', '4', 'head_dim is "4" and must be integer'],
  ['head_dim', 3, 'the head width 3 is not even'],
  ['sliding_window', 0, 'sliding_window is 0 and must be >= 1'],
  ['layer_types', ['full_attention'], 'layer_types has 1 entries for 2 layers'],
  ['layer_types', 'full_attention', 'layer_types is "full_attention" and must be array'],
  ['no_rope_layers', [1], 'no_rope_layers has 1 entries for 2 layers'],
  ['logits_scaling', 0, 'logits_scaling is 0 and must be > 0'],
  ['rope_theta', 0, 'rope_theta is 0 and must be > 1'],
  ['rope_theta', 'x', 'rope_theta is "x" and must be number'],
  ['rope_theta', -10_000, 'rope_theta is -10000 and must be > 1'],
  ['rope_parameters', 'x', 'rope_parameters is not an object'],
  ['rope_scaling', [], 'rope_scaling is not an object'],
  ['rms_norm_eps', '1e-6', 'rms_norm_eps is "1e-6" and must be number'],
  ['rms_norm_eps', undefined, 'rms_norm_eps is missing'],
  ['tie_word_embeddings', 'no', 'tie_word_embeddings is "no" and must be boolean'],
  ['eos_token_id', 1e9, 'eos_token_id is 1000000000 and must be a token below vocab_size, 275'],
  ['eos_token_id', ['x'], 'eos_token_id is of type string and must be a token below vocab_size, 275'],
])('a configuration with %s = %j is refused before weights are read', async (key, value, message) => {
  await folderWith(async (folder) => {
    await editConfig(folder, (config) => {
      config[key] = value;
    });
    const error = await readCheckpoint(folder).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'usage.checkpoint_damaged' });
    expect((error as Error).message).toMatch(new RegExp(`^[^\n]*${message}[^\n]*$`));
  });
});

test.each([
  [{ num_experts: 1e9, num_experts_per_tok: 1 }, 'num_experts is 1000000000, but .* has only 26 tensors'],
  [{ num_experts: 2, num_experts_per_tok: 3 }, 'num_experts_per_tok is 3, and num_experts only 2'],
  [{ num_experts: 2 }, 'num_experts_per_tok is missing'],
  [{ num_experts_per_tok: 2 }, 'num_experts is missing'],
  [{ num_experts: 2, num_experts_per_tok: 1, mlp_only_layers: [0.5] }, 'mlp_only_layers.* must be integer'],
])('a mixture of experts with %j is damaged', async (fields, message) => {
  await folderWith(async (folder) => {
    await editConfig(folder, (config) => {
      Object.assign(config, { model_type: 'qwen3_moe', moe_intermediate_size: 8 }, fields);
    });
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_damaged',
      message: expect.stringMatching(message),
    });
  });
});

test.each(['1e999', '-1e999'])('a configuration with an infinite number is refused (%s)', async (number) => {
  await folderWith(async (folder) => {
    const config = await readFile(join(folder, 'config.json'), 'utf8');
    await writeFile(
      join(folder, 'config.json'),
      config.replace('"rope_theta":10000', `"rope_theta":${number}`),
    );
    await expect(readCheckpoint(folder)).rejects.toThrow(/rope_theta is -?Infinity and must be/);
  });
});

test.each([
  [{ rope_type: 'linear', factor: 0 }, /factor of rope_scaling must be a number above 0/],
  [{ rope_type: 'linear', factor: '2' }, /factor of rope_scaling must be a number above 0/],
  [{ rope_type: 'yarn', factor: 2, beta_fast: -1 }, /beta_fast of rope_scaling must be a number above 0/],
  [
    {
      rope_type: 'llama3',
      factor: 8,
      low_freq_factor: 4,
      high_freq_factor: 4,
      original_max_position_embeddings: 64,
    },
    /high_freq_factor of rope_scaling must be above low_freq_factor/,
  ],
])('rope_scaling %j is refused', async (rope_scaling, message) => {
  await folderWith(async (folder) => {
    await editConfig(folder, (config) => {
      config.rope_scaling = rope_scaling;
    });
    await expect(readCheckpoint(folder)).rejects.toThrow(message);
  });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])(
  'a weight of %d is refused with its place',
  async (value) => {
    await folderWith(async (folder) => {
      const { weights } = wordCheckpoint();
      (weights['model.layers.1.mlp.up_proj.weight']!.data as Float32Array)[7] = value;
      await writeSafetensors(join(folder, 'model.safetensors'), weights, {});
      await expect(readCheckpoint(folder)).rejects.toMatchObject({
        code: 'usage.checkpoint_damaged',
        message: expect.stringContaining(
          `"model.layers.1.mlp.up_proj.weight" has ${value} at index 7, not a finite number`,
        ),
      });
    });
  },
);

test('an error about weights that do not match the configuration names file and tensor', async () => {
  await folderWith(async (folder) => {
    await editConfig(folder, (config) => {
      config.intermediate_size = 32;
    });
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_damaged',
      message: expect.stringMatching(
        /model\.safetensors: "model\.layers\.0\.mlp\.gate_proj\.weight" has shape \[24,16\].*\[32,16\]/,
      ),
    });
    await editConfig(folder, (config) => {
      config.intermediate_size = 24;
      config.tie_word_embeddings = false;
    });
    await expect(readCheckpoint(folder)).rejects.toThrow(/lacks "lm_head\.weight"/);
  });
});

test.each(['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'])(
  'an error about a missing %s names the file',
  async (name) => {
    await folderWith(async (folder) => {
      await rm(join(folder, name));
      await expect(readCheckpoint(folder)).rejects.toMatchObject({
        code: 'usage.checkpoint_missing',
        message: expect.stringContaining(join(folder, name)),
      });
    });
  },
);

/**
 * Splits the folder's weights into two shards in bfloat16, as transformers does with large models. `name` renames the
 * tensors.
 */
async function shard(folder: string, name = (original: string) => original): Promise<void> {
  const { tensors } = await readSafetensors(join(folder, 'model.safetensors'));
  const entries = Object.entries(tensors).map(([key, value]) => [name(key), value] as const);
  const weightMap: Record<string, string> = {};
  for (const [index, part] of [entries.slice(0, 7), entries.slice(7)].entries()) {
    const file = `model-0000${index + 1}-of-00002.safetensors`;
    await writeSafetensors(join(folder, file), Object.fromEntries(part), { format: 'pt' }, 'bfloat16');
    for (const [key] of part) weightMap[key] = file;
  }
  const index = { metadata: { total_size: 1 }, weight_map: weightMap };
  await writeFile(join(folder, indexFile), JSON.stringify(index));
  await rm(join(folder, 'model.safetensors'));
}

const indexFile = 'model.safetensors.index.json';

async function editIndex(folder: string, change: (map: Record<string, string>) => void): Promise<void> {
  const index = JSON.parse(await readFile(join(folder, indexFile), 'utf8'));
  change(index.weight_map);
  await writeFile(join(folder, indexFile), JSON.stringify(index));
}

/** Expects the errors of rounding to bfloat16, which keeps 8 bits: no larger, and not 0. */
function expectRounded(weights: Tensors, expected: Tensors): void {
  expect(Object.keys(weights).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, { data, dims }] of Object.entries(expected)) {
    expect(weights[name]!.dims).toEqual(dims);
    const errors = Array.from(
      data,
      (value, i) => Math.abs(weights[name]!.data[i]! - value) / Math.abs(value),
    );
    expect(Math.max(...errors), name).toBeLessThanOrEqual(2 ** -8);
    expect(Math.max(...errors), name).toBeGreaterThan(0);
  }
}

test('shards in bfloat16 are read through their index', async () => {
  await folderWith(async (folder) => {
    await shard(folder);
    expectRounded((await readCheckpoint(folder)).weights, wordCheckpoint().weights);
  });
});

test('weights that AutoModel saved, without the prefix, are read', async () => {
  await folderWith(async (folder) => {
    await shard(folder, (name) => name.replace(/^model\./, ''));
    expectRounded((await readCheckpoint(folder)).weights, wordCheckpoint().weights);
  });
});

test.each([
  [
    'a shard that is missing',
    async (folder: string) => rm(join(folder, 'model-00002-of-00002.safetensors')),
    'usage.checkpoint_missing',
    /index\.json names model-00002-of-00002\.safetensors for "model\.\S+", and that file is missing/,
  ],
  [
    'a tensor that is not in the shard that the index names',
    async (folder: string) =>
      editIndex(folder, (map) => {
        map['model.norm.weight'] = map['model.embed_tokens.weight']!;
      }),
    'usage.checkpoint_damaged',
    /model-00001-of-00002\.safetensors lacks "model\.norm\.weight"/,
  ],
  [
    'a tensor that is not in the index',
    async (folder: string) =>
      editIndex(folder, (map) => {
        delete map['model.norm.weight'];
      }),
    'usage.checkpoint_damaged',
    /index\.json lacks "model\.norm\.weight"/,
  ],
  [
    'a shard that is cut short',
    async (folder: string) => {
      const file = join(folder, 'model-00002-of-00002.safetensors');
      await writeFile(file, (await readFile(file)).subarray(0, -2));
    },
    'usage.checkpoint_damaged',
    /model-00002-of-00002\.safetensors is damaged \("model\.norm\.weight" is cut short\)/,
  ],
  [
    'an index that points out of the folder',
    async (folder: string) =>
      editIndex(folder, (map) => {
        map['model.norm.weight'] = '../elsewhere.safetensors';
      }),
    'usage.checkpoint_missing',
    /names \.\.\/elsewhere\.safetensors for "model\.norm\.weight", and that file is missing/,
  ],
])('an error about %s names file and tensor', async (_title, spoil, code, message) => {
  await folderWith(async (folder) => {
    await shard(folder);
    await spoil(folder);
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });
});

test('a second copy of tied embeddings is ignored', async () => {
  await folderWith(async (folder) => {
    const file = join(folder, 'model.safetensors');
    const { tensors } = await readSafetensors(file);
    await writeSafetensors(file, { ...tensors, 'lm_head.weight': tensors['model.embed_tokens.weight']! }, {});
    expect((await readCheckpoint(folder)).weights).toEqual(wordCheckpoint().weights);
  });
});

test('the error about pickled weights says how to convert them', async () => {
  await folderWith(async (folder) => {
    await rename(join(folder, 'model.safetensors'), join(folder, 'pytorch_model.bin'));
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_unsupported',
      message: expect.stringMatching(/pytorch_model\.bin is not safetensors.*save_pretrained/),
    });
  });
});

test('the error about GGUF says what to use instead', async () => {
  await folderWith(async (folder) => {
    const file = join(folder, 'model.GGUF');
    const refused = {
      code: 'usage.checkpoint_unsupported',
      message: `${file}: GGUF is not supported; name the Hugging Face folder that it was made from, with config.json and *.safetensors.`,
    };
    await expect(readCheckpoint(file)).rejects.toMatchObject(refused);
    await rename(join(folder, 'model.safetensors'), file);
    await expect(readCheckpoint(file)).rejects.toMatchObject(refused);
    await expect(readCheckpoint(folder)).rejects.toMatchObject(refused);
    await rm(join(folder, 'config.json'));
    await expect(readCheckpoint(folder)).rejects.toMatchObject(refused);
  });
});

async function editTokenizer(folder: string, change: (tokenizer: TokenizerFile) => void): Promise<void> {
  const tokenizer = JSON.parse(await readFile(join(folder, 'tokenizer.json'), 'utf8'));
  change(tokenizer);
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
}

interface TokenizerFile {
  model: { type: string; vocab: Record<string, number> };
  added_tokens: { id: number; content: string }[];
}

test.each([
  [
    'an added token',
    (tokenizer: TokenizerFile, size: number) => {
      tokenizer.added_tokens[0]!.id = size + 3;
    },
    3,
  ],
  [
    'a token of the vocabulary',
    (tokenizer: TokenizerFile, size: number) => {
      tokenizer.model.vocab.surplus = size;
    },
    0,
  ],
])('%s without an embedding is refused with both numbers', async (_title, change, beyond) => {
  const size = wordCheckpoint().config.vocab_size;
  await folderWith(async (folder) => {
    await editTokenizer(folder, (tokenizer) => change(tokenizer, size));
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_unsupported',
      message: expect.stringContaining(
        `tokenizer.json: its token ids go up to ${size + beyond}, config.json's vocab_size is ${size}`,
      ),
    });
  });
});

test('a tokenizer of another kind is refused', async () => {
  await folderWith(async (folder) => {
    await editTokenizer(folder, (tokenizer) => {
      tokenizer.model.type = 'WordLevel';
    });
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_unsupported',
      message: expect.stringMatching(/model\.type "WordLevel" is not supported.*BPE/),
    });
  });
});

const nested = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`);

test.each([
  ['model.vocab', null, /model\/vocab is null and must be object/],
  ['model.vocab', { a: 'x' }, /model\/vocab\/a is "x" and must be integer/],
  ['model.merges', [1], /model\/merges\/0 is 1 and must be string/],
  ['added_tokens', { id: 1 }, /added_tokens is \{"id":1\} and must be array/],
  ['added_tokens', [{ content: 'x' }], /added_tokens\/0\/id is missing/],
  ['pre_tokenizer', 7, /pre_tokenizer is 7 and must be object/],
  ['pre_tokenizer', { type: 'Split', pattern: 7 }, /pre_tokenizer\/pattern is 7 and must be object/],
  ['decoder', nested, /it is a value with more than 64 levels/],
])('a tokenizer with %s = %j is refused', async (path, value, message) => {
  await folderWith(async (folder) => {
    await editTokenizer(folder, (tokenizer) => {
      const keys = path.split('.');
      const owner = keys.length > 1 ? tokenizer.model : tokenizer;
      (owner as unknown as Record<string, unknown>)[keys.at(-1)!] = value;
    });
    const error = await readCheckpoint(folder).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'usage.checkpoint_damaged',
      message: expect.stringMatching(message),
    });
  });
});

test.each([7, [null], [{ name: 'default', template: 7 }]])(
  'chat_template = %j is refused',
  async (chat_template) => {
    await folderWith(async (folder) => {
      await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify({ chat_template }));
      await expect(readCheckpoint(folder)).rejects.toMatchObject({
        code: 'usage.checkpoint_damaged',
        message: expect.stringMatching(/tokenizer_config\.json: chat_template\S* is (7|null) and must be/),
      });
    });
  },
);

/** The dtype in config.json, under its name in transformers 5 or the earlier one. */
function storedType({ files }: Checkpoint): unknown {
  const { dtype, torch_dtype: old } = JSON.parse(files['config.json']!);
  return dtype ?? old;
}

test.each([undefined, 'float32', 'bfloat16'])(
  'writing bfloat16 sets the dtype in config.json (%s before)',
  async (before) => {
    const { files, weights } = wordCheckpoint();
    const config = JSON.stringify({ ...JSON.parse(files['config.json']!), ...(before && { dtype: before }) });
    await inTemporaryFolder(async (folder) => {
      await writeCheckpoint(
        folder,
        { files: { ...files, 'config.json': config }, weights },
        { dtype: 'bfloat16' },
      );
      const read = await readCheckpoint(folder);
      expectRounded(read.weights, weights);
      expect(storedType(read)).toBe('bfloat16');
      for (const [options, type] of [
        [{}, 'bfloat16'],
        [{ dtype: 'float32' }, 'float32'],
      ] as const) {
        await writeCheckpoint(folder, read, options);
        const again = await readCheckpoint(folder);
        expect(again.weights).toEqual(read.weights);
        expect(storedType(again)).toBe(type);
      }
    });
  },
);

test('an error about a small file that is not a JSON object names it', async () => {
  await folderWith(async (folder) => {
    for (const content of ['{', 'null', '[]']) {
      await writeFile(join(folder, 'tokenizer.json'), content);
      await expect(readCheckpoint(folder)).rejects.toMatchObject({
        code: 'usage.checkpoint_damaged',
        message: expect.stringContaining('tokenizer.json'),
      });
    }
  });
});

test('a folder that does not exist is refused', async () => {
  await expect(readCheckpoint('/no/such/folder')).rejects.toMatchObject({ code: 'usage.checkpoint_missing' });
});
