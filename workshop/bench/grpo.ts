/** `npm run bench -- grpo`: whole steps of GRPO. The peer is TRL's GRPOTrainer. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineToolEnv, openEnv } from '@toolenv/core';
import { createPolicy, type ModelConfig, readCheckpoint } from '@toolenv/policy';
import { grpo as trainer } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';
import type { Benchmark } from './benchmark.ts';
import { modelShape, randomModel } from './model.ts';

/** Its tokenizer serves models of any size. */
const tinyPolicy = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
const vocabulary = 854;
const words = 50;

/** Its rewards differ within a group: without that, nothing is learned. */
const anything = defineToolEnv({
  name: 'anything-v1',
  description: 'Pays for the remainder of the length of an answer.',
  limits: { maxTurns: 1 },
  tasks: { train: Array.from({ length: 8 }, (_, topic) => `Topic ${topic}:${' river'.repeat(words)}`) },
  rewards: {
    // An answer is cut off at its last token, and scored all the same.
    length: { kind: 'outcome', score: ({ conversation }) => (conversation.at(-1)!.content.length % 16) / 16 },
  },
  episode: ({ task }) => ({ messages: task, tools: [] }),
});

export function grpo(given: ModelConfig): Benchmark {
  const config = { ...given, vocab_size: vocabulary };
  const shape = { prompts: 8, words, groupSize: 8, newTokens: 64, ...modelShape(config) };
  const scratch = mkdtempSync(join(tmpdir(), 'toolenv-bench-'));
  return {
    shape,
    peerScript: 'grpo.py',
    async prepare(runtime) {
      const { weights } = randomModel(config);
      // Without an end token, each answer has all its tokens.
      const checkpoint = { ...(await readCheckpoint(tinyPolicy)), config, weights, endTokens: [] };
      const policy = await createPolicy(checkpoint, { runtime });
      const env = await openEnv(anything);
      const events = train({
        env,
        policy,
        trainer: trainer({ maxTokens: shape.newTokens, learningRate: 1e-6, checkpointEvery: 0 }),
        tasksPerStep: shape.prompts,
        groupSize: shape.groupSize,
        steps: 1_000_000,
        trajectories: false,
        out: scratch,
      });
      const tokens = shape.prompts * shape.groupSize * shape.newTokens;
      const step = async () => {
        for (;;) {
          const { value } = await events.next();
          if (value?.type !== 'update') continue;
          // Prompts count too.
          if (value.metrics.learned_tokens! > tokens) return;
          throw new Error('Some groups had equal rewards, from which nothing is learned.');
        }
      };
      await step();
      await step();
      return {
        tokens,
        round: step,
        async close() {
          await events.return();
          await env.close();
          await policy.close();
          await rm(scratch, { recursive: true });
        },
      };
    },
  };
}
