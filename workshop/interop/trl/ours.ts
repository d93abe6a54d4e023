/** Our side: trains with trainer-grpo until the goal is reached. */
import { join } from 'node:path';
import type { EnvHandle } from '@toolenv/core';
import type { Metrics } from '@toolenv/core/plugins';
import { loadPolicy, onnxRuntime } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import { train } from '@toolenv/training';
import type { StepReport } from './learning-curve.ts';
import { checkpoint, type SideOptions } from './side.ts';

/** Trains, and saves the trained policy to `out`. */
export async function trainOurs(env: EnvHandle<unknown>, options: SideOptions): Promise<void> {
  const { setting, out, seed, threads, maxSteps, onStep } = options;
  await using policy = await loadPolicy(checkpoint, { runtime: onnxRuntime({ threads }) });
  const trainer = grpo({ ...setting, checkpointEvery: 0 });
  const run = { env, policy, trainer, seed, out: join(out, 'run'), trajectories: false };
  const begun = performance.now();
  const cpuBefore = process.cpuUsage();
  let rollout: Metrics = {};
  for await (const event of train({ ...run, steps: maxSteps })) {
    if (event.type === 'rollout') rollout = event.metrics;
    if (event.type !== 'update') continue;
    const { user, system } = process.cpuUsage(cpuBefore);
    const report: StepReport = {
      step: event.step,
      seconds: (performance.now() - begun) / 1000,
      rolloutSeconds: rollout['time/rollout']!,
      cpuSeconds: (user + system) / 1e6,
      em: rollout['rewards/em/mean']!,
      reward: rollout.reward!,
      generatedTokens: rollout.generated_tokens!,
      callFrequency: rollout['tools/call_frequency']!,
    };
    if (onStep(report)) break;
  }
  await policy.save(out);
}
