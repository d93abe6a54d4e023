/**
 * `npm run tiny-policy`: trains the tiny policy from random weights.
 *
 * The policy learns to copy names, then to read documents, then to play whole episodes of the good strategy. Last it learns
 * habits from a mix in which that strategy is a minority. It can then solve the task, but mostly does not, which leaves
 * something for reinforcement learning. Worlds change from phase to phase and within a phase, so that the model cannot
 * memorise entities.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { deriveSeed, openEnv } from '@toolenv/core';
import type { Learner, TokenRow } from '@toolenv/core/learner';
import { wordsOf, worldVocabulary } from '@toolenv/envs-qa';
import { createPolicy, type ModelConfig, parameterCount, writeCheckpoint } from '@toolenv/policy';
import { evaluate } from '@toolenv/training';
import { envOptions } from '../demo/setting.ts';
import { comparisonExercises } from './comparison-exercises.ts';
import { copyExercises } from './copy-exercises.ts';
import { demonstrations } from './demonstrations.ts';
import { initialWeights } from './initial-weights.ts';
import { readingExercises } from './reading-exercises.ts';
import { type Batch, type Family, type Phase, recipes } from './recipes.ts';
import { buildTokenizer } from './tokenizer.ts';

/** Seeds weights, worlds and batches. */
const seed = 20;

const refOf = (family: Family) => `@toolenv/envs-qa/${family}-v1`;

const { topK } = envOptions;

const { values: args } = parseArgs({
  options: {
    /** `bridge` or `all`: see recipes.ts. */
    recipe: { type: 'string', default: 'bridge' },
    /** Folder for the policy. Default: the recipe's folder in this repository. */
    out: { type: 'string' },
    /** Folder for the result of each phase. */
    work: { type: 'string' },
    /** Continues after this phase of an earlier run. The result is the same. */
    after: { type: 'string' },
  },
});

const { recipe: recipeName } = args;
if (recipeName !== 'bridge' && recipeName !== 'all')
  throw new RangeError(`--recipe ${recipeName}: give bridge or all.`);
const { families, facts, phases } = recipes[recipeName];
const out = args.out ?? join(import.meta.dirname, recipeName === 'bridge' ? 'checkpoint' : 'checkpoint-all');
const work = args.work ?? join('runs', 'tiny-policy', recipeName);

const names = worldVocabulary().filter((word) => /^[A-Z][a-z]{3}/.test(word));
const tokenizer = buildTokenizer([...worldVocabulary(), ...(await fixedWords())]);
const config: ModelConfig & Record<string, unknown> = {
  architectures: ['Qwen2ForCausalLM'],
  model_type: 'qwen2',
  torch_dtype: 'float32',
  vocab_size: tokenizer.vocabularySize,
  hidden_size: 128,
  intermediate_size: 384,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  hidden_act: 'silu',
  max_position_embeddings: 1024,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
  use_sliding_window: false,
  eos_token_id: tokenizer.endOfTurn,
  pad_token_id: tokenizer.padding,
};
const files = {
  'config.json': JSON.stringify(config, null, 2),
  'tokenizer.json': JSON.stringify(tokenizer.tokenizer, null, 1),
  'tokenizer_config.json': JSON.stringify(tokenizer.tokenizerConfig, null, 2),
};
const checkpoint = {
  folder: out,
  config,
  weights: initialWeights(config, seed),
  tokenizer: tokenizer.tokenizer,
  tokenizerConfig: tokenizer.tokenizerConfig,
  endTokens: [tokenizer.endOfTurn],
  files,
};
const policy = await createPolicy(checkpoint);
console.log(`${parameterCount(config)} parameters, ${tokenizer.vocabularySize} tokens`);

const done = phases.findIndex(({ name }) => name === args.after);
if (done >= 0) await policy.learner.load(join(work, phases[done]!.name));
for (const [index, phase] of phases.entries()) {
  if (index <= done) continue;
  await warmUp(phase);
  await policy.learner.save(join(work, phase.name));
}
await writeCheckpoint(out, { files, weights: policy.model.weights });

/** The words of the environment's own messages. */
async function fixedWords(): Promise<string[]> {
  const env = await openEnv('@toolenv/envs-qa/bridge-v1', {}, { seed });
  const { messages } = await env.episode().reset({ task: env.tasks.train.get(0), seed });
  await env.close();
  return messages.flatMap(({ content }) => wordsOf(content));
}

/** One phase of supervised training: cross-entropy where the mask is 1. */
async function warmUp(phase: Phase): Promise<void> {
  const { chat, learner } = policy;
  const { name, steps, learningRate, warmUp: rise, batch, mix } = phase;
  const seedOf = (source: string) => deriveSeed(seed, name, source);
  const demonstrationsOf = (family: Family) =>
    demonstrations(chat, { ref: refOf(family), topK, mix, seed: seedOf(family) });
  const sources: Record<
    keyof Batch,
    AsyncGenerator<TokenRow, never, void> | Generator<TokenRow, never, void>
  > = {
    copies: copyExercises(chat, names, seedOf('copies')),
    readings: readingExercises(chat, { seed: seedOf('readings'), facts }),
    comparisons: comparisonExercises(chat, seedOf('comparisons')),
    bridge: demonstrationsOf('bridge'),
    comparison: demonstrationsOf('comparison'),
    compose: demonstrationsOf('compose'),
  };
  const started = performance.now();
  let tokens = 0;
  for (let step = 0; step < steps; step++) {
    const rows: TokenRow[] = [];
    for (const [source, count] of Object.entries(batch) as [keyof Batch, number][]) {
      for (let i = 0; i < count; i++) rows.push((await sources[source].next()).value);
    }
    const count = rows.reduce((sum, { mask }) => sum + mask.reduce((ones, bit) => ones + bit, 0), 0);
    tokens += rows.reduce((sum, row) => sum + row.tokens.length, 0);
    await learner.backward(
      { rows },
      { dLogprobs: rows.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / count)) },
    );
    const rate =
      learningRate * Math.min(1, (step + 1) / rise) * (0.5 + 0.5 * Math.cos((Math.PI * step) / steps));
    await learner.step({ learningRate: rate, weightDecay: 0.01, maxGradNorm: 1 });
    if ((step + 1) % 100 === 0) {
      const seconds = (performance.now() - started) / 1000;
      const losses = await lossOfEach(learner, rows, batch);
      console.log(
        `${name} ${step + 1}/${steps}  ${losses}  ${(tokens / seconds).toFixed(0)} tokens/s  ${seconds.toFixed(0)} s`,
      );
    }
    if (batch.bridge && ((step + 1) % 200 === 0 || step + 1 === steps)) await report();
  }
}

/** Mean cross-entropy, in nats, of the rows of each source. The rows are in the batch's order. */
async function lossOfEach(learner: Learner, rows: TokenRow[], batch: Batch): Promise<string> {
  const { logprobs } = await learner.forward({ rows });
  let start = 0;
  const losses = Object.entries(batch).map(([source, count]: [string, number]) => {
    const own = [...rows.keys()].slice(start, start + count);
    start += count;
    const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);
    const nats = -sum(own.map((row) => sum(logprobs[row]!)));
    const tokens = sum(own.map((row) => sum(rows[row]!.mask)));
    return `${source} ${(nats / tokens).toFixed(3)}`;
  });
  return losses.join(' ');
}

/** Evaluates the policy on questions about a world that it has not seen. */
async function report(): Promise<void> {
  for (const family of families)
    for (const temperature of [0, 1]) {
      const env = await openEnv(refOf(family), { topK });
      const run = { env, policy, concurrency: 200, maxTokens: 64, temperature };
      const { means, toolCalls, outcomes } = await evaluate(run);
      console.log(
        `  ${family} at ${temperature}: EM ${means.em?.toFixed(3)} F1 ${means.f1?.toFixed(3)} calls ${toolCalls.toFixed(2)}`,
        outcomes,
      );
      await env.close();
    }
}
