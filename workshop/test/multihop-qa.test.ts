/** docs/recipes/multihop-qa.md: its commands name flags that exist, and its memory is what the code estimates. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { helpOf } from '../../packages/cli/test/help-of.ts';
import { loraTargets } from '../../packages/policy/src/learner/lora.ts';
import { trainingMemory } from '../../packages/policy/src/learner/training-memory.ts';
import { parameterCount } from '../../packages/policy/src/model/model.ts';
import type { ModelConfig } from '../../packages/policy/src/model/model-config.ts';
import { parameterShapes } from '../../packages/policy/src/model/parameter-shapes.ts';
import { readModelConfig } from '../../packages/policy/src/model/read-model-config.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/recipes/multihop-qa.md'), 'utf8');

/** The words of each `npx toolenv …`, with the files of flags in it. Variables stand for their first value. */
const commands = Array.from(page.matchAll(/^ *npx toolenv ((?:.*\\\n)*.*)$/gm), ([, command]) => {
  const text = command!
    .replaceAll('\\\n', ' ')
    .replace(/ &$/, '')
    .replaceAll('$dataset', 'hotpotqa')
    .replaceAll('$algorithm', 'grpo')
    .replaceAll('$kind', 'naive-rag')
    .replaceAll(/\$\{run#\*-\}/g, 'no-action')
    .replaceAll(/\$\(cat ([^)]+)\)/g, (_, files: string) =>
      files
        .split(' ')
        .map((file) => readFileSync(join(root, 'examples', file), 'utf8'))
        .join(' '),
    );
  return Array.from(text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, a, b, c]) => a ?? b ?? c!);
});

test('the page has commands of every kind', () => {
  const kinds = new Set(commands.map(([kind]) => kind));
  expect(kinds).toEqual(new Set(['data', 'index', 'baseline', 'train', 'eval', 'rollout']));
});

test.each(commands)('toolenv %s %s: the flags exist', async (...argv) => {
  const help = await helpOf(...argv);
  const flags = new Set(Array.from(help.matchAll(/^ {2}(--[\w-]+)/gm), ([, flag]) => flag));
  const unknown = argv.filter((word) => word.startsWith('--') && !flags.has(word));
  expect(unknown).toEqual([]);
});

/** The published config.json of the models, as far as it says how large they are. */
const common = {
  hidden_size: 2048,
  num_attention_heads: 16,
  vocab_size: 151_936,
  max_position_embeddings: 32_768,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
};
const qwen25 = readModelConfig('Qwen2.5-3B-Instruct', {
  ...common,
  model_type: 'qwen2',
  num_hidden_layers: 36,
  num_key_value_heads: 2,
  intermediate_size: 11_008,
});
const qwen3 = readModelConfig('Qwen3-1.7B', {
  ...common,
  model_type: 'qwen3',
  num_hidden_layers: 28,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 6144,
});

/** A and B of each projection. */
function adapter(config: ModelConfig, rank: number): Map<string, readonly number[]> {
  const isAdapted = (name: string) => loraTargets.some((target) => name.endsWith(`.${target}.weight`));
  const adapted = [...parameterShapes(config)].filter(([name]) => isAdapted(name));
  return new Map(
    adapted.flatMap(([name, [to, from]]) => [
      [`${name} A`, [rank, from!]],
      [`${name} B`, [to!, rank]],
    ]),
  );
}

test.each([
  ['all weights of Qwen2.5-3B', trainingMemory(qwen25, { gradientCheckpointing: true })],
  [
    'adapters of rank 32',
    trainingMemory(qwen25, {
      gradientCheckpointing: true,
      tokenBudget: 1024,
      trained: adapter(qwen25, 32),
    }),
  ],
  ['all weights of Qwen3-1.7B', trainingMemory(qwen3, { gradientCheckpointing: true, tokenBudget: 1024 })],
])('the memory of %s is what the code estimates', (name, memory) => {
  const { weights, gradients, optimizer, activations, total } = memory;
  const cells = [weights, gradients, optimizer, activations, total].map((bytes) => (bytes / 1e9).toFixed(1));
  const row = page.split('\n').find((line) => line.startsWith(`| ${name}`))!;
  expect(row.split(' | ').slice(1).join(' ').replace(/ \|$/, '')).toBe(cells.join(' '));
});

test('a token of the cache takes what the page says', () => {
  expect(trainingMemory(qwen25).cachePerToken).toBe(2 * 36 * 2 * 128 * 4);
  expect(parameterCount(qwen25)).toBe(3_085_938_688);
});
