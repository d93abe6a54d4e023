/**
 * Rejection sampling: learn from the best episode of each group, as if it were a demonstration (RAFT, arXiv 2304.06767). The loss is
 * the cross-entropy of the tokens that the policy generated in the kept episodes.
 */
import type { Trajectory } from '@toolenv/core';
import { countTokens, defineTrainer } from '@toolenv/training';

export default defineTrainer({
  name: 'best-of-n',
  description: 'Rejection sampling: supervised learning from the best episode of each group',
  options: {
    properties: {
      learningRate: { type: 'number', minimum: 0, default: 1e-5, description: 'learning rate of AdamW' },
    },
  },
  defaults: { groupSize: 8 },
  minimums: { groupSize: 2 },
  create: ({ options: { learningRate }, optimize }) => ({
    async update({ rows, trajectories }) {
      const chosen = rows.filter(({ trajectory }) => isBest(trajectory, trajectories));
      // Where all episodes of a group score the same, there is no best episode to learn from.
      if (chosen.length === 0) return { grad_norm: 0, learned_tokens: 0 };
      const tokens = countTokens(chosen.map(({ mask }) => mask));
      const dLogprobs = chosen.map(({ mask }) => Float32Array.from(mask, (bit) => -bit / tokens));
      const { gradNorm } = await optimize(chosen, { dLogprobs }, { learningRate, maxGradNorm: 1 });
      return { grad_norm: gradNorm, learned_tokens: tokens };
    },
  }),
});

/** Whether it is the first of its group's best episodes, and another episode of the group scored less. */
function isBest(trajectory: Trajectory, all: readonly Trajectory[]): boolean {
  const group = all.filter(({ group }) => group === trajectory.group);
  const rewards = group.map(({ reward }) => reward!);
  const highest = Math.max(...rewards);
  return highest > Math.min(...rewards) && group[rewards.indexOf(highest)] === trajectory;
}
