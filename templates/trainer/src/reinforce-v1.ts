/**
 * `reinforce-v1`: REINFORCE with a baseline (Williams 1992). Compare each episode with the mean of the rollout, and make
 * the better episodes more likely. Rollouts, evaluation, checkpoints, resuming and Ctrl-C come from `defineTrainer`.
 */
import { type ConfigurableTrainer, countTokens, defineTrainer, type RunOptions } from '@toolenv/training';

export interface ReinforceOptions {
  learningRate: number;
}

const reinforce: ConfigurableTrainer<ReinforceOptions & RunOptions> = defineTrainer({
  name: 'reinforce',
  description: 'REINFORCE with the mean of the rollout as baseline',
  options: {
    type: 'object',
    properties: {
      learningRate: { type: 'number', minimum: 0, default: 1e-4, description: 'of AdamW' },
    },
  },
  defaults: { tasksPerStep: 64, groupSize: 1 },
  create: ({ options: { learningRate }, optimize }) => ({
    async update({ rows, trajectories }) {
      const baseline = trajectories.reduce((sum, { reward }) => sum + reward! / trajectories.length, 0);
      // An episode has one row of tokens, or more if the environment rewrote the conversation. The mask is 1 on the tokens
      // that the policy generated: only those are learned.
      const tokens = countTokens(rows.map(({ mask }) => mask));
      // The loss is −mean(advantage · log-probability). A learner takes its gradient by each log-probability.
      const dLogprobs = rows.map(({ mask, trajectory }) => {
        const advantage = trajectory.reward! - baseline;
        return Float32Array.from(mask, (bit) => (-bit * advantage) / tokens);
      });
      const { gradNorm } = await optimize(rows, { dLogprobs }, { learningRate, maxGradNorm: 1 });
      return { grad_norm: gradNorm };
    },
  }),
});
export default reinforce;
