/** Models that read images too: their text part is opened as a model of its own. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCheckpoint, readConfig, writeCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { readSafetensors, readTensorShapes, writeSafetensors } from '../../src/checkpoint/safetensors.ts';
import { textPartOf } from '../../src/checkpoint/text-part.ts';
import { zeros } from '../../src/runtime/runtime.ts';
import { inTemporaryFolder } from '../tiny-model.ts';
import { wordCheckpoint } from '../word-checkpoint.ts';

test.each([
  ['of transformers 5', (name: string) => name.replace(/^model\./, 'model.language_model.')],
  ['of transformers 4', (name: string) => `language_model.${name}`],
])('names %s: the text part is opened, and saved without the rest', async (_, rename) => {
  await inTemporaryFolder(async (folder) => {
    const written = wordCheckpoint();
    await writeCheckpoint(folder, written);
    const file = join(folder, 'config.json');
    const {
      eos_token_id,
      tie_word_embeddings,
      architectures: __,
      ...text
    } = JSON.parse(await readFile(file, 'utf8'));
    const wholeConfig = {
      model_type: 'some_vision_model',
      architectures: ['SomeForConditionalGeneration'],
      ...{ eos_token_id, tie_word_embeddings },
      text_config: { ...text, eos_token_id: null },
      vision_config: { hidden_size: 8 },
    };
    await writeFile(file, JSON.stringify(wholeConfig));
    const weights = join(folder, 'model.safetensors');
    const { tensors } = await readSafetensors(weights, await readTensorShapes(weights));
    const renamed = Object.entries(tensors).map(([name, each]) => [rename(name), each]);
    const whole = { ...Object.fromEntries(renamed), 'model.visual.patch.weight': zeros([2]) };
    await writeSafetensors(weights, whole, {});

    const opened = await readCheckpoint(folder);
    expect(opened.weights).toEqual(written.weights);
    expect(opened.endTokens).toEqual(written.endTokens);
    expect(await readConfig(folder)).toMatchObject(written.config);
    const copy = join(folder, 'copy');
    await writeCheckpoint(copy, opened);
    const saved = JSON.parse(await readFile(join(copy, 'config.json'), 'utf8'));
    expect(saved).toMatchObject({ architectures: ['Qwen2ForCausalLM'], model_type: 'qwen2', eos_token_id });
    expect(saved).not.toHaveProperty('vision_config');
    expect((await readCheckpoint(copy)).weights).toEqual(written.weights);
  });
});

test('quantized weights are refused, though only the whole model names them', async () => {
  await inTemporaryFolder(async (folder) => {
    await writeCheckpoint(folder, wordCheckpoint());
    const file = join(folder, 'config.json');
    const text_config = JSON.parse(await readFile(file, 'utf8'));
    const quantization_config = { quant_method: 'fp8' };
    await writeFile(
      file,
      JSON.stringify({ model_type: 'some_vision_model', text_config, quantization_config }),
    );
    for (const read of [readCheckpoint, readConfig])
      await expect(read(folder)).rejects.toMatchObject({
        code: 'usage.checkpoint_unsupported',
        message: expect.stringMatching(/config\.json: quantized weights/),
      });
  });
});

test('a configuration without a text part is left as it is', () => {
  const plain = { model_type: 'qwen2', text_config: null };
  expect(textPartOf(plain)).toBe(plain);
});
