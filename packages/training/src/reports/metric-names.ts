/** The names of all metrics, so that two trainers share a chart: TRL's name where TRL has the metric, else verl's, else ours. */

/**
 * What each metric measures. `<component>` stands for the name of a reward, `<kind>` for a kind of mistake, `<reason>` for a reason
 * of truncation, `<cause>` for the code of a fault, `<tool>` for the name of a tool. Rewards, turns and lengths are of the scored
 * episodes. The metrics of several optimizer steps are means, except that `…/min` is the least and `…/max` the greatest value.
 */
export const metricNames = {
  // Rewards
  reward: 'mean weighted reward of an episode (verl: critic/score/mean)',
  reward_std:
    'standard deviation of the reward within a group, mean over the groups; of all episodes without groups',
  'rewards/<component>/mean': 'mean over the episodes that scored the component, before weights',
  'rewards/<component>/std': 'standard deviation over these episodes',
  'reward/ci_low': 'in evaluations: lower end of the 95 % confidence interval of the mean, over tasks',
  'reward/ci_high': 'upper end of that interval',
  'rewards/<component>/ci_low': 'the same of a component',
  'rewards/<component>/ci_high': 'the same of a component',
  'pass@<k>': 'in evaluations: chance that at least one of k episodes of a task passes (arXiv 2107.03374)',
  'pass@<k>/ci_low': 'lower end of its interval',
  'pass@<k>/ci_high': 'upper end of its interval',
  '<environment>/…': 'in evaluations: any of these metrics on another environment, of evaluateOn',
  frac_reward_zero_std: 'share of the groups whose episodes all scored the same',
  num_gen_batches: 'rollouts of the step, with dynamic sampling (verl: train/num_gen_batches)',
  // Episodes
  episodes: 'episodes played',
  aborted: 'episodes that ended because the infrastructure failed',
  'response/aborted_ratio': 'share of these episodes, which enter no mean',
  'aborted/<cause>': 'share of the episodes that this cause ended, such as infrastructure.timeout',
  unscored:
    'episodes that ended and that nothing scored, if there are any; the trainer does not learn from them',
  'completions/clipped_ratio': 'share of the episodes that were truncated',
  'truncated/<reason>':
    'share of the episodes truncated for this reason: max_turns, max_tokens, deadline or context',
  'num_turns/mean': 'turns of an episode: mean',
  'num_turns/min': 'fewest turns',
  'num_turns/max': 'most turns',
  'completions/mean_length': 'generated tokens of an episode: mean (verl: response_length/mean)',
  'completions/mean_thought': 'characters of the thoughts of an episode: mean, where a turn had a thought',
  'completions/min_length': 'fewest tokens',
  'completions/max_length': 'most tokens',
  'tokens_per_turn/mean': 'generated tokens of a turn: mean',
  'tokens_per_turn/max': 'most tokens',
  'tokens_per_turn/clipped_ratio': 'share of the turns that ended at maxTokens',
  generated_tokens: 'tokens that the policy generated, in aborted episodes too',
  // A policy on a server
  'policy/model_requests': 'requests of turns to a model on a server, in aborted episodes too',
  'policy/model_input_tokens': 'tokens that this model read, cached tokens included',
  'policy/model_cached_tokens': 'of these, tokens that its server had in its cache',
  'policy/model_output_tokens': 'tokens that this model generated',
  'policy/model_cost': 'what they cost in dollars, if prices are known',
  'policy/model_seconds': 'seconds until the replies, summed over turns; turns at one time count each',
  // Tools
  'tools/call_frequency': 'tool calls of an episode',
  'tools/failure_frequency': 'share of the calls that were mistakes or failed',
  'mistakes/<kind>':
    'share of the calls with this mistake: malformed_call, unknown_tool, invalid_arguments or too_many_calls; tool_error: the tool answered with an error',
  'tools/<tool>/call_frequency': 'calls of this tool in an episode, without mistaken calls',
  'tools/<tool>/error_frequency': 'share of these calls that the tool answered with an error',
  'tools/unused_ratio': 'share of the episodes with tools that call no tool',
  'tools/unused_outcome': 'mean weighted outcome reward of these episodes',
  'tools/model_requests': 'requests of tools to models, such as those to a judge, in aborted episodes too',
  'tools/model_input_tokens': 'tokens that these models read',
  'tools/model_output_tokens': 'tokens that these models generated',
  // Updates
  loss: 'loss of the policy, with penalty and bonus (verl: actor/pg_loss)',
  grad_norm: "norm of the policy's gradient before clipping (verl: actor/grad_norm)",
  learning_rate: 'of the optimizer step, after the schedule (verl: actor/lr)',
  learned_tokens: 'tokens of the rows in the updates, prompts included',
  length_reward: 'mean reward for the length of an episode, if the trainer gives one',
  staleness: 'updates since the rollout began, if rollouts run ahead; with workers, the mean over the groups',
  'staleness/max': 'with workers: most updates since a group of the rollout began',
  stale_episodes:
    'with workers: episodes since the step before that were older than maxStaleness, and were replaced',
  damaged_groups:
    'with workers: groups since the step before whose files were damaged or broke a rule, and were replaced',
  entropy: 'mean entropy of a token in nats, over the tokens that are learned from (verl: actor/entropy)',
  'rollout_corr/rollout_log_ppl':
    'minus the mean log-probability of a sampled token, by the sampler, mean over the episodes: estimates the entropy at no cost',
  // Distances
  kl: 'mean KL estimate to the initial policy, in nats per token; without a penalty at every klEvery-th step, over a quarter of the rows (verl: actor/kl_loss, actor/reward_kl_penalty)',
  'actor/ppo_kl': "mean of log p_old − log p: how far this step's own updates have moved the policy",
  'ratio/mean': 'importance ratio p / p_old of a token: mean; 1 in the first optimizer step of a rollout',
  'ratio/min': 'least ratio',
  'ratio/max': 'greatest ratio',
  'clip_ratio/low_mean': 'share of tokens whose ratio is below the bound, where that bound matters',
  'clip_ratio/high_mean': 'share of tokens whose ratio is above the bound, where that bound matters',
  'clip_ratio/region_mean': 'share of tokens beyond the bound that matters (verl: actor/pg_clipfrac)',
  cispo_clip_ratio: 'share of tokens whose weight is capped, with the loss cispo',
  'actor/pg_clipfrac_lower': 'share of tokens that the dual clip caps',
  'rollout_corr/k3_kl':
    'mean k3 estimate of the KL from the sampler to the learner before the update, in nats per token',
  'sampling/sampling_logp_difference/mean':
    'mean absolute difference of log-probabilities between learner and sampler',
  'sampling/sampling_logp_difference/max': 'largest such difference',
  'sampling/importance_sampling_ratio/min':
    'smallest weight of the mismatch correction (verl: rollout_corr/rollout_is_min)',
  'sampling/importance_sampling_ratio/mean': 'mean weight of the mismatch correction',
  'sampling/importance_sampling_ratio/max': 'largest weight of the mismatch correction',
  'actor/reward_kl_penalty_coeff': 'weight of the KL in the reward',
  'teacher/reverse_kl':
    'in distillation: mean of log p − log p_teacher over the sampled tokens, in nats: estimates the reverse KL per token',
  'teacher/agreement':
    'in distillation: mean of min(1, p_teacher / p) over the sampled tokens: estimates the share of probability that student and teacher place alike, 1 less their total variation distance',
  // Critic
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
  // Examples and preferences
  epoch: 'passes made over the data',
  'mean_token_accuracy/lower_bound':
    'share of the tokens to learn with a probability above ½: at least so many are the likeliest',
  num_tokens: 'tokens of the rows of all steps so far, prompts included',
  accepted: 'share of the episodes that rejection sampling learns from',
  pairs: 'pairs of episodes in an update',
  'rewards/chosen': 'mean β · (log p − log p_reference) of the preferred answers',
  'rewards/rejected': 'the same of the rejected answers',
  'rewards/margins': 'their mean difference',
  'rewards/accuracies': 'share of the pairs whose preferred answer has the higher of the two',
  'logps/chosen': 'mean log-probability of a preferred answer',
  'logps/rejected': 'mean log-probability of a rejected answer',
  // Evolution strategies
  'es/reward_std': 'standard deviation of the mean rewards of the perturbed policies of a step',
  'es/pairs': 'pairs of opposite perturbations that the step learned from: those whose mean rewards differ',
  'es/change': 'root mean square of the change of a weight in the step',
  // Prompts
  'prompts/best': 'mean score of the best texts so far on the Pareto tasks',
  'prompts/candidates': 'texts that were kept so far, the texts of the environment included',
  'prompts/accepted': '1 if the step kept a new text',
  'prompts/gain': 'mean difference that the new text of the step made on its minibatch, if there was one',
  'prompts/refused': '1 if the answer of the reflection policy could not be used',
  'prompts/episodes': 'episodes of all steps so far, of the budget',
  'prompts/reflections': 'reflections so far, of the budget',
  // Time and memory
  step_time: 'seconds since the step before ended, evaluation and checkpoint included (verl: timing_s/step)',
  'memory/process_gb':
    'gigabytes of memory that the process has at the end of the step (verl: perf/cpu_memory_used_gb)',
  'time/rollout': 'seconds of the rollout (verl: timing_s/gen)',
  'time/environment':
    'seconds of the rollout in which an episode waited for its environment, which runs tools and computes rewards',
  'time/generation': 'the other seconds of the rollout: every episode waited for the policy',
  'time/update': 'seconds of the update (verl: timing_s/update_actor)',
  'time/forward': "of these: the policy's and the critic's forward passes (verl: timing_s/old_log_prob)",
  'time/reference': 'of these: forward passes of the initial policy (verl: timing_s/ref)',
  'time/teacher': 'of these: the teacher read the tokens',
  'time/backward': 'of these: backward passes and optimizer steps',
  'time/evaluation': 'seconds of the evaluation (verl: timing_s/testing)',
  'time/checkpoint': 'seconds of saving since the update before (verl: timing_s/save_checkpoint)',
  'tokens_per_second/generation': 'generated_tokens by time/rollout',
  'tokens_per_second/learning': 'learned_tokens by time/update',
} as const;
