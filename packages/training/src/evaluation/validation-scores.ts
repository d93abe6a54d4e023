/** How well a policy does in the middle of its training. */
import type { EnvHandle } from '@toolenv/core';
import type { Metrics, Run } from '@toolenv/core/plugins';
import { abortMetrics } from '../reports/abort-metrics.ts';
import { namedTurnUsage, namedUsage } from '../rollouts/rollout-metrics.ts';
import type { RunOptions } from '../trainer/run-options.ts';
import type { Interval } from './confidence-interval.ts';
import { evaluate } from './evaluate.ts';

type Evaluated = Pick<Run, 'env' | 'policy' | 'seed' | 'signal' | 'onProgress'>;
type WithEnv = Evaluated & { env: EnvHandle<unknown> };

/**
 * The scores on the environment of the run and on those of `evaluateOn`, whose metrics begin with their names. The run's own
 * environment is left out if there is none, or if it has no validation tasks and there are others.
 */
export async function validationScores(
  { evaluateOn = {}, ...run }: Evaluated & Pick<Run, 'evaluateOn'>,
  options: RunOptions,
): Promise<Metrics> {
  const others = Object.entries(evaluateOn);
  const { env: own } = run;
  const hasOwn = own && (others.length === 0 || (await own.tasks.validation.length) > 0);
  const metrics = hasOwn ? await scoresOn({ ...run, env: own }, options) : {};
  for (const [name, env] of others) {
    const scores = await scoresOn({ ...run, env }, options);
    for (const [metric, value] of Object.entries(scores)) metrics[`${name}/${metric}`] = value;
  }
  return metrics;
}

/** Mean reward and components, their intervals, pass@k, and aborted episodes, which enter none of them, on the first tasks of the validation split. */
async function scoresOn(run: WithEnv, options: RunOptions): Promise<Metrics> {
  const { evaluationSamples: samples, evaluationTemperature: temperature } = options;
  const { maxTokens, deadline, onDeadline, onBug, onImages, maxAborted } = options;
  const { env, policy, seed, signal, onProgress } = run;
  const count = Math.min(options.evaluationEpisodes, await env.tasks.validation.length);
  const plan = { split: 'validation', count, samples, concurrency: count * samples, temperature } as const;
  const bounds = { maxTokens, deadline, onDeadline, onBug, onImages, maxAborted };
  const found = await evaluate({ ...plan, ...bounds, env, policy, seed, signal, onProgress });
  const { reward, means, rewardInterval, intervals, pass } = found;
  const metrics: Metrics = { ...namedTurnUsage(found.turnUsage), ...namedUsage(found.toolUsage) };
  const add = (name: string, of: string, mean: number | null, interval: Interval | null | undefined) => {
    if (mean === null) return;
    metrics[name] = mean;
    if (interval) [metrics[`${of}/ci_low`], metrics[`${of}/ci_high`]] = interval;
  };
  add('reward', 'reward', reward, rewardInterval);
  for (const [name, mean] of Object.entries(means))
    add(`rewards/${name}/mean`, `rewards/${name}`, mean, intervals[name]);
  for (const [k, { mean, interval }] of Object.entries(pass?.at ?? {}))
    add(`pass@${k}`, `pass@${k}`, mean, interval);
  return found.faults ? { ...metrics, ...abortMetrics(found.faults, found.episodes) } : metrics;
}
