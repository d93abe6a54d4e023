/** The names of all metrics, so that two trainers share a chart: TRL's name where TRL has the metric, else verl's, else ours. */

/**
 * What each metric measures. `<component>` stands for the name of a reward. The metrics of several optimizer steps are
 * means, except that `…/min` is the least and `…/max` the greatest value.
 */
export const metricNames = {
  // Rollouts
  reward: 'mean weighted reward of the scored episodes (verl: critic/score/mean)',
  'rewards/<component>/mean': 'mean over the episodes that scored the component, before weights',
  frac_reward_zero_std: 'share of the groups whose episodes all scored the same',
  'completions/mean_length': 'generated tokens of an episode (verl: response_length/mean)',
  'tools/call_frequency': 'tool calls of an episode',
  'tools/failure_frequency': 'failed or mistaken tool calls of an episode',
  episodes: 'episodes played',
  aborted: 'episodes without a score, because the infrastructure failed',
  generated_tokens: 'tokens that the policy generated in the rollout',
  num_gen_batches: 'rollouts of the step, with dynamic sampling (verl: train/num_gen_batches)',
  'time/rollout': 'seconds (verl: timing_s/gen)',
  // Updates
  loss: 'loss of the policy, with penalty and bonus (verl: actor/pg_loss)',
  grad_norm: "norm of the policy's gradient before clipping (verl: actor/grad_norm)",
  learned_tokens: 'tokens of the rows in the updates, prompts included',
  length_reward: 'mean reward for the length of an episode, if the trainer gives one',
  staleness: 'updates since the rollout began, if rollouts run ahead',
  kl: 'mean KL estimate to the reference policy, in nats per token; 0 without a penalty (verl: actor/kl_loss, actor/reward_kl_penalty)',
  entropy: 'mean entropy of a token in nats, where it is computed (verl: actor/entropy)',
  'clip_ratio/low_mean': 'share of tokens whose ratio is below the bound, where that bound matters',
  'clip_ratio/high_mean': 'share of tokens whose ratio is above the bound, where that bound matters',
  'clip_ratio/region_mean': 'share of tokens beyond the bound that matters (verl: actor/pg_clipfrac)',
  cispo_clip_ratio: 'share of tokens whose weight is capped, with the loss cispo',
  'sampling/sampling_logp_difference/mean':
    'mean difference of log-probabilities between learner and sampler',
  'sampling/sampling_logp_difference/max': 'largest such difference',
  'sampling/importance_sampling_ratio/min':
    'smallest weight of the mismatch correction (verl: rollout_corr/rollout_is_min)',
  'sampling/importance_sampling_ratio/mean': 'mean weight of the mismatch correction',
  'sampling/importance_sampling_ratio/max': 'largest weight of the mismatch correction',
  'actor/ppo_kl': "mean of log p_old − log p: how far this step's own updates have moved the policy",
  'actor/pg_clipfrac_lower': 'share of tokens that the dual clip caps',
  'actor/reward_kl_penalty_coeff': 'weight of the KL in the reward',
  'critic/score/mean': 'mean reward of an episode in the update',
  'critic/rewards/mean': 'mean reward of an episode, less the KL penalty',
  'critic/values/mean': "the critic's values before the update: mean",
  'critic/values/min': 'least value',
  'critic/values/max': 'greatest value',
  'critic/returns/mean': 'what the values should have been: mean',
  'critic/returns/min': 'least return',
  'critic/returns/max': 'greatest return',
  'critic/advantages/mean': 'whitened advantages: mean',
  'critic/advantages/min': 'least advantage',
  'critic/advantages/max': 'greatest advantage',
  'critic/vf_explained_var': '1 − Var(returns − values) / Var(returns)',
  'critic/vf_loss': 'value loss',
  'critic/vf_clipfrac': 'share of clipped values',
  'critic/vpred_mean': 'mean value during the update',
  'critic/grad_norm': "norm of the critic's gradient before clipping; with a shared trunk, of its head",
  'time/update': 'seconds (verl: timing_s/update_actor)',
} as const;
