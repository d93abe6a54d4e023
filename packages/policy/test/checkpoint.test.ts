/** Hugging Face folders: written ones are read, newer configurations are understood, and what is wrong is named. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCheckpoint, writeCheckpoint } from '../src/checkpoint.ts';
import { inTemporaryFolder } from './tiny-model.ts';
import { wordCheckpoint } from './word-checkpoint.ts';

/** A good folder, which `change` spoils. */
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

test('what was written is read: weights, configuration, tokenizer, end tokens', async () => {
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

test('a configuration of transformers 5 keeps the rotary base in rope_parameters', async () => {
  await folderWith(async (folder) => {
    await editConfig(folder, (config) => {
      delete config.rope_theta;
      config.rope_parameters = { rope_theta: 5000, rope_type: 'default' };
    });
    expect((await readCheckpoint(folder)).config.rope_theta).toBe(5000);
  });
});

test('chat_template.jinja and generation_config.json override', async () => {
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
  ['model_type', 'gemma3', /model_type "gemma3".*qwen2, qwen3, llama, mistral/],
  ['rope_scaling', { type: 'dynamic', factor: 2 }, /rope_scaling.*"dynamic"/],
  ['rope_parameters', { rope_type: 'longrope' }, /rope_scaling.*"longrope"/],
  ['rope_scaling', { rope_type: 'llama3', factor: 8 }, /"llama3" needs a number low_freq_factor/],
  ['hidden_act', 'gelu', /hidden_act "gelu"/],
  ['use_sliding_window', true, /sliding-window/],
])('a configuration with %s = %j is refused', async (key, value, message) => {
  await folderWith(async (folder) => {
    await editConfig(folder, (config) => {
      config[key] = value;
    });
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_unsupported',
      message: expect.stringMatching(message),
    });
  });
});

test('weights that do not fit the configuration name file and tensor', async () => {
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
  'a folder without %s names it',
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

test('a small file that is not JSON is named', async () => {
  await folderWith(async (folder) => {
    await writeFile(join(folder, 'tokenizer.json'), '{');
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'usage.checkpoint_damaged',
      message: expect.stringContaining('tokenizer.json'),
    });
  });
});

test('a folder that is not there', async () => {
  await expect(readCheckpoint('/no/such/folder')).rejects.toMatchObject({ code: 'usage.checkpoint_missing' });
});
