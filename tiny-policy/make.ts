/**
 * Makes the tiny policy from nothing: `npm run tiny-policy`.
 *
 * First it learns to copy names. Then it learns the skills (calling the search tool, reading results) from demonstrations of
 * the good strategy. Last it learns habits from mixes in which that strategy is a minority, so that it can do the task and
 * mostly does not: what a reward is for. The first, strong round of habits costs skill, which a short second round of skills
 * brings back. Worlds differ from part to part, so that nothing about any entity can be remembered.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  collect,
  createRng,
  deriveSeed,
  evaluate,
  openEnv,
  rollout,
  type TokenRow,
  toTrainingRows,
} from '@toolenv/core';
import { type QaRecord, wordsOf, worldVocabulary } from '@toolenv/envs-qa';
import {
  createPolicy,
  type LoadedPolicy,
  parameterCount,
  type Qwen2Config,
  writeCheckpoint,
} from '@toolenv/policy';
import { copyExercise } from './copy-exercise.ts';
import { demonstrator } from './demonstrator.ts';
import { initialWeights } from './initial-weights.ts';
import type { Mix } from './strategies.ts';
import { buildTokenizer } from './tokenizer.ts';

const recipe = {
  seed: 20,
  batch: 32,
  /** Share of each family among the demonstrations. */
  families: ['bridge-v1'],
  /** Documents of a search result. */
  topK: 2,
  /** Steps before a new world is made. */
  stepsPerWorld: 100,
};

interface Phase {
  name: string;
  steps: number;
  learningRate: number;
  /** Steps over which the learning rate rises; then it falls as a cosine. */
  warmUp: number;
  /** Copy exercises in each batch. */
  copies: number;
  mix: Mix;
}

const phases: Phase[] = [
  { name: 'copying', steps: 600, learningRate: 2e-3, warmUp: 100, copies: 32, mix: {} },
  { name: 'skills', steps: 1500, learningRate: 2e-3, warmUp: 100, copies: 4, mix: { followHops: 1 } },
  {
    name: 'strong-habits',
    steps: 200,
    learningRate: 3e-4,
    warmUp: 20,
    copies: 0,
    mix: {
      followHops: 0.15,
      stopAfterOneHop: 0.6,
      searchWholeQuestion: 0.1,
      followWrongEntity: 0.1,
      giveUp: 0.05,
    },
  },
  { name: 'skills-again', steps: 600, learningRate: 1e-3, warmUp: 50, copies: 4, mix: { followHops: 1 } },
  {
    name: 'habits',
    steps: 100,
    learningRate: 1e-4,
    warmUp: 10,
    copies: 0,
    mix: {
      followHops: 0.25,
      stopAfterOneHop: 0.6,
      searchWholeQuestion: 0.05,
      followWrongEntity: 0.05,
      giveUp: 0.05,
    },
  },
];

const { values: args } = parseArgs({
  options: {
    out: { type: 'string', default: join(import.meta.dirname, 'checkpoint') },
    /** Where each phase leaves its result. */
    work: { type: 'string', default: 'runs/tiny-policy' },
    /** Goes on after this phase of an earlier run, to the same end. */
    after: { type: 'string' },
  },
});

const names = worldVocabulary().filter((word) => /^[A-Z][a-z]{3}/.test(word));
const tokenizer = buildTokenizer([...worldVocabulary(), ...(await fixedWords())]);
const config: Qwen2Config & Record<string, unknown> = {
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
  folder: args.out,
  config,
  weights: initialWeights(config, recipe.seed),
  tokenizer: tokenizer.tokenizer,
  tokenizerConfig: tokenizer.tokenizerConfig,
  endTokens: [tokenizer.endOfTurn],
  files,
};
const model = createPolicy(checkpoint);
console.log(`${parameterCount(config)} parameters, ${tokenizer.vocabularySize} tokens`);

let step = 0;
const done = phases.findIndex(({ name }) => name === args.after);
if (done >= 0) await model.learner.load(join(args.work, phases[done]!.name));
for (const [index, phase] of phases.entries()) {
  if (index <= done) {
    step += phase.steps;
    continue;
  }
  await warmUp(model, phase);
  await model.learner.save(join(args.work, phase.name));
}
await writeCheckpoint(args.out, { files, weights: model.model.weights });
await report(model);

/** The words that the environment itself says. */
async function fixedWords(): Promise<string[]> {
  const env = await openEnv('@toolenv/envs-qa/bridge-v1', { seed: recipe.seed });
  const { messages } = await env.episode().reset({ task: env.tasks.train.at(0), seed: recipe.seed });
  await env.close();
  return messages.flatMap(({ content }) => wordsOf(content));
}

/** One phase of supervised training: cross-entropy on what the demonstrator wrote. */
async function warmUp({ chat, learner }: LoadedPolicy, phase: Phase): Promise<void> {
  const { name, steps, learningRate, warmUp: rise, copies, mix } = phase;
  const started = performance.now();
  let rows: TokenRow[] = [];
  let tokens = 0;
  for (let done = 0; done < steps; done++, step++) {
    if (rows.length < recipe.batch - copies) rows = await demonstrate(done);
    const rng = createRng(recipe.seed, 'batch', step);
    const batch = rows.splice(0, recipe.batch - copies);
    for (let i = 0; i < copies; i++) batch.push(copyExercise(chat, names, rng));
    const count = batch.reduce((sum, { mask }) => sum + mask.reduce((ones, bit) => ones + bit, 0), 0);
    tokens += batch.reduce((sum, row) => sum + row.tokens.length, 0);
    await learner.backward(
      { rows: batch },
      { dLogprobs: batch.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / count)) },
    );
    const progress = done / steps;
    const rate = learningRate * Math.min(1, (done + 1) / rise) * (0.5 + 0.5 * Math.cos(Math.PI * progress));
    await learner.step({ learningRate: rate, weightDecay: 0.01, maxGradNorm: 1 });
    if ((done + 1) % 100 === 0) {
      const { logprobs } = await learner.forward({ rows: batch });
      const loss =
        -logprobs.reduce((sum, row) => sum + row.reduce((total, value) => total + value, 0), 0) / count;
      const seconds = (performance.now() - started) / 1000;
      console.log(
        `${name} ${done + 1}/${steps}  loss ${loss.toFixed(3)}  ${(tokens / seconds).toFixed(0)} tokens/s  ${seconds.toFixed(0)} s`,
      );
      if (name === 'skills' && (done + 1) % 300 === 0) await report(model);
    }
  }

  /** Rows for the next steps, from a world of their own. */
  async function demonstrate(done: number): Promise<TokenRow[]> {
    const shuffler = createRng(recipe.seed, name, done);
    const seed = deriveSeed(recipe.seed, name, done);
    const rows: TokenRow[] = [];
    const wanted = (recipe.stepsPerWorld * recipe.batch) / recipe.families.length;
    for (const [index, family] of recipe.families.entries()) {
      const env = await openEnv(`@toolenv/envs-qa/${family}`, {
        seed: deriveSeed(seed, family, index),
        options: { topK: recipe.topK },
      });
      const tasks = env.tasks.train;
      const records = new Map<string, QaRecord>();
      const episodes = Array.from({ length: Math.ceil(wanted) }, (_, group) => {
        const task = tasks.at(shuffler.int(tasks.length)) as QaRecord;
        records.set(task.question, task);
        return { task, group, member: 0 };
      });
      const policy = demonstrator(chat, records, mix);
      const sampling = { maxTokens: 256, temperature: 1 };
      for (const trajectory of await collect(
        rollout({ env, policy, episodes, concurrency: 64, sampling, seed }),
      )) {
        rows.push(...toTrainingRows(trajectory));
      }
      await env.close();
    }
    return shuffler.shuffle(rows);
  }
}

/** How it does on questions of a world that it has not seen. */
async function report({ policy }: LoadedPolicy): Promise<void> {
  for (const family of new Set(recipe.families)) {
    const env = await openEnv(`@toolenv/envs-qa/${family}`, { seed: 1, options: { topK: recipe.topK } });
    for (const temperature of [0, 1]) {
      const sampling = { maxTokens: 128, temperature };
      const { means, toolCalls, outcomes } = await evaluate({
        env,
        split: 'test',
        policy,
        count: 200,
        concurrency: 200,
        sampling,
        seed: 1,
      });
      console.log(
        `  ${family} temperature ${temperature}: EM ${means.em?.toFixed(3)} F1 ${means.f1?.toFixed(3)} calls ${toolCalls.toFixed(2)}`,
        outcomes,
      );
    }
    await env.close();
  }
}
