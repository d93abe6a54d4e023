/**
 * Evolution strategies (arXiv 1703.03864; of language models, arXiv 2509.24372): weights with noise play episodes, and the weights move
 * towards the noise that earned more. There are no gradients: nothing needs memory but the weights, twice.
 */
import { deriveSeed, type EnvHandle, type JsonSchema, ToolEnvError, type Trajectory } from '@toolenv/core';
import type { Noise } from '@toolenv/core/learner';
import type { Metrics } from '@toolenv/core/plugins';
import {
  AbortWatch,
  type AlgorithmContext,
  type ConfigurableTrainer,
  defineTrainer,
  draw,
  mean,
  type PlayingAlgorithm,
  playEpisodes,
  type RunOptions,
} from '@toolenv/training';
import { type EsOptions, esOptions } from './es-options.ts';

export const es: ConfigurableTrainer<EsOptions & RunOptions> = defineTrainer<JsonSchema, EsOptions>({
  name: 'es',
  description: 'Learns without gradients, from weights with noise (evolution strategies, arXiv 1703.03864)',
  learnsFrom: 'perturbations',
  options: { properties: esOptions },
  // Greedy episodes differ by the noise alone.
  defaults: { temperature: 0, tasksPerStep: 32 },
  minimums: { temperature: 0 },
  resolve: ({ noise }) => ({ learningRate: noise }),
  create(context) {
    const { learner, run } = context;
    if (learner.perturb && learner.shift) return { play: playsOf(context) };
    const message = `es puts noise on weights, which the learner of ${run.policy.spec.name} cannot do: train with @toolenv/trainer-grpo/grpo-v1.`;
    throw new ToolEnvError('usage.no_noise', message);
  },
});
export default es;

/** What the two policies of a pair have earned in each task of the step; `null` where an episode has no reward. */
type Pair = Record<'plus' | 'minus', readonly (number | null)[]>;

function playsOf({ options, run, learner }: AlgorithmContext<EsOptions>): PlayingAlgorithm['play'] {
  const env: EnvHandle<unknown> = run.env!;
  const watch = new AbortWatch(options.maxAborted);
  const rate = options.learningRate ?? options.noise;

  return async ({ step, seed, results }) => {
    const groups = { tasksPerStep: options.tasksPerStep, groupSize: 1, seed: run.seed };
    const drawn = await draw(env, groups, { step, count: options.tasksPerStep, attempt: 0, results });
    const trajectories: Trajectory[] = [];
    const seedsOfNoise = Array.from({ length: options.pairs }, (_, pair) => deriveSeed(seed, 'noise', pair));

    /** Every policy of the step plays the same tasks with the same seeds. */
    const play = async (noise: Noise) => {
      await learner.perturb!(noise);
      const played = await playEpisodes(run, options, { env, episodes: drawn.episodes, seed, watch });
      const sample = trajectories.length / played.length;
      for (const trajectory of played) {
        const place = { index: trajectories.length, sample, episodeId: `${trajectory.episodeId}-${sample}` };
        trajectories.push({ ...trajectory, ...place });
      }
      return played.map(({ reward }) => reward);
    };

    const pairs: Pair[] = [];
    try {
      for (const ofNoise of seedsOfNoise) {
        const plus = await play({ seed: ofNoise, scale: options.noise });
        const minus = await play({ seed: ofNoise, scale: -options.noise });
        pairs.push({ plus, minus });
      }
    } finally {
      await learner.perturb!();
    }
    return { trajectories, tasks: drawn.tasks, learn };

    async function learn(): Promise<Metrics> {
      const { weights, spread } = weightsOf(pairs);
      const noise = seedsOfNoise.flatMap((seed, pair) =>
        weights[pair] ? [{ seed, scale: rate * weights[pair] }] : [],
      );
      if (noise.length > 0) await learner.shift!(noise);
      return {
        'es/reward_std': spread,
        'es/pairs': noise.length,
        // Noise of different seeds is at right angles, but for chance.
        'es/change': Math.hypot(...noise.map(({ scale }) => scale)),
      };
    }
  };
}

/**
 * The weight of each pair's noise: the difference between the mean rewards of its policies, over the standard deviation of the mean rewards
 * of all policies, and over the number of policies. A task counts in a pair if both of its policies have a reward there, so that no policy
 * gains by an episode that ends without.
 */
export function weightsOf(pairs: readonly Pair[]): { weights: number[]; spread: number } {
  const scores = pairs.map(({ plus, minus }) => {
    const both = [...plus.keys()].filter((task) => plus[task] !== null && minus[task] !== null);
    const scoreOf = (rewards: Pair['plus']) => mean(both.map((task) => rewards[task]!));
    return both.length > 0 ? [scoreOf(plus), scoreOf(minus)] : [];
  });
  const known = scores.flat();
  const center = mean(known);
  const spread = Math.sqrt(mean(known.map((score) => (score - center) ** 2)));
  const weights = scores.map(([plus, minus]) =>
    spread > 0 && plus !== undefined ? (plus - minus!) / spread / known.length : 0,
  );
  return { weights, spread };
}
