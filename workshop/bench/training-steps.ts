/** Steps of a whole run of GRPO, one at a time: a rollout and the update from it. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EnvHandle } from '@toolenv/core';
import type { Metrics } from '@toolenv/core/plugins';
import type { TransformerPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';

export interface TrainingSteps {
  /** Runs until an update has ended. After a rollout whose groups have no variance, it learns nothing: `learned_tokens` is 0. */
  step(): Promise<Metrics>;
  /** Closes the environment and the policy, too. */
  close(): Promise<void>;
}

export interface StepOptions {
  env: EnvHandle<unknown>;
  policy: TransformerPolicy;
  tasksPerStep: number;
  groupSize: number;
  maxTokens: number;
}

export function trainingSteps({
  env,
  policy,
  tasksPerStep,
  groupSize,
  maxTokens,
}: StepOptions): TrainingSteps {
  const out = mkdtempSync(join(tmpdir(), 'toolenv-bench-'));
  const events = train({
    ...{ env, policy, tasksPerStep, groupSize, out },
    trainer: grpo({ maxTokens, learningRate: 1e-6, checkpointEvery: 0 }),
    steps: 1_000_000,
    trajectories: false,
  });
  return {
    async step() {
      let played: Metrics = {};
      for (;;) {
        const { value } = await events.next();
        if (value?.type === 'rollout') played = value.metrics;
        if (value?.type === 'update') return { ...played, ...value.metrics };
      }
    },
    async close() {
      await events.return();
      await env.close();
      await policy.close();
      await rm(out, { recursive: true });
    },
  };
}
