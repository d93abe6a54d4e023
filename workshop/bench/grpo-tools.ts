/**
 * `npm run bench -- grpo-tools`: whole steps of GRPO with tools, of a policy that has learned to call them. The peer is TRL's GRPOTrainer,
 * which plays the same environment over OpenEnv's protocol.
 */
import { existsSync } from 'node:fs';
import { openEnv, ToolEnvError } from '@toolenv/core';
import { withTextTools } from '@toolenv/core/tools';
import { serveOpenEnv } from '@toolenv/openenv';
import { loadPolicy } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { type ModelChoice, measureBenchmark } from './measure-model.ts';
import { median } from './median.ts';
import { trainingSteps } from './training-steps.ts';

const environment = '@toolenv/envs-classic/arithmetic-v1';
const supervised = 'runs/real-study/arithmetic/supervised-1/policy';

/** @param choice `policy` is a checkpoint whose template has no tools. */
export async function measureGrpoTools({
  policy = supervised,
  ...choice
}: ModelChoice & { policy?: string }): Promise<Record<string, unknown>> {
  if (!existsSync(policy)) {
    const remedy = 'npm run real-study -- --environments arithmetic --rows Supervised';
    throw new ToolEnvError('usage.checkpoint_missing', `No policy ${policy}: make one by ${remedy}.`);
  }
  const [served, env] = [await openEnv(environment), await openEnv(environment)];
  const { messages, tools } = await env.episode().reset({ task: await env.tasks.train.get(0), seed: 0 });
  const service = await serveOpenEnv(served, { port: 0, split: 'train', maxSessions: 128 });
  const shape = { prompts: 8, groupSize: 8, maxTokens: 96, rank: 16, maxTurns: 8, rowsAtATime: 8 };
  // Both sides read the same words about tools.
  const { content: system } = withTextTools({ messages, tools })[0]!;
  const written: number[] = [];
  const learned: number[] = [];
  const benchmark: Benchmark = {
    shape,
    ofPeer: { policy, url: service.url, system },
    peerScript: 'grpo_tools.py',
    unit: 'episodes',
    async prepare(runtime) {
      const steps = trainingSteps({
        env,
        policy: await loadPolicy(policy, { runtime, learner: { lora: { rank: shape.rank } } }),
        tasksPerStep: shape.prompts,
        ...shape,
      });
      const round = async () => {
        const metrics = await steps.step();
        written.push(metrics.generated_tokens!);
        learned.push(metrics.learned_tokens!);
      };
      await round();
      return {
        tokens: shape.prompts * shape.groupSize,
        round,
        details: async () => ({ generatedTokens: median(written), learnedTokens: median(learned) }),
        close: () => steps.close(),
      };
    },
  };
  const modules = ['trl', 'datasets', 'peft', 'openenv'];
  try {
    return {
      name: 'grpo-tools',
      environment,
      ...(await measureBenchmark(benchmark, { ...choice, modules })),
    };
  } finally {
    await service.close();
    await served.close();
  }
}
