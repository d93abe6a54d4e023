/** `npm run bench -- grpo`: whole steps of GRPO. The peer is TRL's GRPOTrainer. */
import { join } from 'node:path';
import { defineTool, defineToolEnv, type EnvHandle, openEnv, text } from '@toolenv/core';
import { Chat, type Checkpoint, createPolicy, type ModelConfig, readCheckpoint } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { modelShape, randomModel } from './model.ts';
import { trainingSteps } from './training-steps.ts';

/** Its tokenizer serves models of any size. */
const tinyPolicy = join(import.meta.dirname, '../../../packages/checkpoints/tiny');
const vocabulary = 854;
const words = 50;

/** Its rewards differ within a group: without that, nothing is learned. Nothing calls the tools, which only lengthen the prompt. */
function anything(prompts: number, toolCount: number) {
  const tools = Array.from({ length: toolCount }, (_, index) =>
    defineTool({
      name: `search${index}`,
      description: 'Find documents.',
      inputSchema: {
        type: 'object',
        properties: { query: { type: 'string', description: 'What to search for.' } },
        required: ['query'],
      },
      execute: async () => text('nothing'),
    }),
  );
  return defineToolEnv({
    name: 'anything-v1',
    description: 'Pays for the remainder of the length of an answer.',
    limits: { maxTurns: 1 },
    tasks: {
      train: Array.from({ length: prompts }, (_, topic) => `Topic ${topic}:${' river'.repeat(words)}`),
    },
    rewards: {
      // An answer is cut off at its last token, and scored all the same.
      length: {
        kind: 'outcome',
        score: ({ conversation }) => (conversation.at(-1)!.content.length % 16) / 16,
      },
    },
    episode: ({ task }) => ({ messages: task, tools }),
  });
}

/** @param choice Prompts of a step, and tools that are described to the policy. The peer's prompts have as many tokens. */
export async function grpo(
  given: ModelConfig,
  { prompts = 8, tools = 0 }: { prompts?: number; tools?: number } = {},
): Promise<Benchmark> {
  const config = { ...given, vocab_size: vocabulary };
  const shape = { prompts, words, groupSize: 8, newTokens: 64, ...modelShape(config) };
  const tiny = await readCheckpoint(tinyPolicy);
  const env = await openEnv(anything(prompts, tools));
  const chat = tools === 0 ? {} : { toolPrompt: true };
  return {
    shape,
    ofPeer: { words: words + (await toolTokens(env, tiny)) },
    peerScript: 'grpo.py',
    async prepare(runtime) {
      const { weights } = randomModel(config);
      // Without an end token, each answer has all its tokens.
      const policy = await createPolicy({ ...tiny, config, weights, endTokens: [] }, { runtime, ...chat });
      const { groupSize, newTokens: maxTokens } = shape;
      const steps = trainingSteps({ env, policy, tasksPerStep: prompts, groupSize, maxTokens });
      const tokens = prompts * groupSize * maxTokens;
      const round = async () => {
        const { learned_tokens: learned } = await steps.step();
        // Prompts count too.
        if (learned! <= tokens)
          throw new Error('Some groups had equal rewards, from which nothing is learned.');
      };
      await round();
      await round();
      return { tokens, round, close: () => steps.close() };
    },
  };
}

/** How many tokens longer a prompt is for its tools. */
async function toolTokens(env: EnvHandle<string>, tiny: Checkpoint): Promise<number> {
  const { messages, tools } = await env.episode().reset({ task: await env.tasks.train.get(0), seed: 0 });
  const chat = new Chat(tiny, { toolPrompt: true });
  return chat.prompt({ messages, tools }).length - chat.prompt({ messages, tools: [] }).length;
}
