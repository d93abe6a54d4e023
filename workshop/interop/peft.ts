/** Opens LoRA adapters that peft wrote, and compares their logits with its own. Adapters that are not plain LoRA are refused. */
import { join } from 'node:path';
import { createRng, messageOf } from '@toolenv/core';
import { createModel, loadPolicy, onnxRuntime } from '@toolenv/policy';
import { AllLogits } from '../../packages/policy/test/all-logits.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { check } from './check.ts';
import { jsonOf } from './programs.ts';
import { floatsOf, largestDifference } from './transformers-view.ts';

const base = join(import.meta.dirname, '../../packages/checkpoints/tiny');

/** Arguments of LoraConfig, and what the message says of an adapter that is refused. */
const variants: Readonly<Record<string, Record<string, unknown> & { refused?: RegExp }>> = {
  plain: { r: 4, target_modules: ['q_proj', 'v_proj'] },
  'all-linear': { r: 3, lora_alpha: 5, target_modules: 'all-linear' },
  'rank-stabilised': { r: 4, use_rslora: true, target_modules: ['up_proj', 'down_proj'] },
  patterns: {
    ...{ r: 4, target_modules: ['q_proj', 'k_proj', 'o_proj'] },
    ...{ rank_pattern: { k_proj: 2 }, alpha_pattern: { k_proj: 7, 'layers.1.self_attn.o_proj': 3 } },
  },
  'one-layer': { r: 4, target_modules: ['gate_proj'], layers_to_transform: [1] },
  decomposed: { r: 4, target_modules: ['q_proj'], use_dora: true, refused: /use_dora true/ },
  embedding: { r: 4, target_modules: ['embed_tokens'], refused: /embed_tokens/ },
  saved: { r: 4, target_modules: ['q_proj'], modules_to_save: ['lm_head'], refused: /modules_to_save/ },
  pissa: { r: 4, target_modules: ['q_proj'], init_lora_weights: 'pissa', refused: /init_lora_weights/ },
  expression: {
    ...{ r: 4, target_modules: ['q_proj'], alpha_pattern: { '.*0.*q_proj': 3 } },
    refused: /alpha_pattern/,
  },
};

export async function checkPeft(python: string): Promise<void> {
  await using scratch = await scratchFolder();
  const folder = scratch.path;
  const rng = createRng(1, 'sequences');
  const sequences = [5, 60].map((length) => Array.from({ length }, () => rng.int(200)));
  const arguments_ = Object.fromEntries(
    Object.entries(variants).map(([name, { refused: _, ...given }]) => [name, given]),
  );
  const script = join(import.meta.dirname, 'peft_adapters.py');
  const request = { base, folder, sequences, variants: arguments_ };
  const theirs: Record<string, string[]> = await jsonOf(python, [script], request);
  for (const [name, { refused }] of Object.entries(variants)) {
    const title = `peft's adapter, ${name}`;
    const opened = await loadPolicy(join(folder, name)).catch((error: unknown) => messageOf(error));
    if (typeof opened === 'string') {
      check(refused?.test(opened) ?? false, `${title}: refused`, opened);
      continue;
    }
    check(refused === undefined, `${title}: opens`, 'it should be refused');
    await using policy = opened;
    const { config, weights } = policy.model;
    const logits = new AllLogits(onnxRuntime(), createModel(config, weights));
    for (const [index, tokens] of sequences.entries()) {
      const ours = (await logits.of(tokens)).flatMap((row) => [...row]);
      const difference = largestDifference(ours, floatsOf(theirs[name]![index]!));
      check(
        difference <= 1e-4,
        `${title}: logits of ${tokens.length} tokens`,
        `they differ by ${difference}`,
      );
    }
  }
}
