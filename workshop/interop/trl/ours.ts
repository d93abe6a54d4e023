/** Our side: trains with trainer-grpo until the goal is reached. */
import type { EnvHandle } from '@toolenv/core';
import { loadPlugin, type Metrics } from '@toolenv/core/plugins';
import { createPolicy, onnxRuntime, readCheckpoint } from '@toolenv/policy';
import type { StepReport } from './learning-curve.ts';
import { checkpoint, type SideOptions } from './side.ts';

/** Trains, and saves the trained policy to `out`. */
export async function trainOurs(env: EnvHandle<unknown>, options: SideOptions): Promise<void> {
  const { setting, out, seed, threads, maxSteps, onStep } = options;
  const { policy, learner } = await createPolicy(await readCheckpoint(checkpoint), {
    runtime: onnxRuntime({ threads }),
  });
  const trainer = await loadPlugin('trainers', '@toolenv/trainer-grpo/grpo-v1');
  const given = { ...setting, steps: maxSteps, checkpointEvery: 0 };
  const begun = performance.now();
  const cpuBefore = process.cpuUsage();
  let rollout: Metrics = {};
  for await (const event of trainer.train({ env, policy, learner, out, seed }, given)) {
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
  await learner.save(out);
  await learner.close();
  await policy.close();
}
