/** helpGroup: under which heading the whole help lists an option. */

/** Flags by heading. An option without a heading here stays under that of its command or plugin. */
const headings: Readonly<Record<string, string>> = {
  'Environment:': 'env-option tool prompts weights evaluate-on',
  'Steps and episodes:':
    'steps tasks-per-step group-size max-staleness scorer scorer-weight environment-weight',
  'Sampling:': 'temperature top-p top-k min-p max-tokens constrain-calls',
  'Limits and faults:':
    'deadline on-deadline on-bug on-images max-aborted retries concurrency budget budget-tokens',
  'Evaluation:':
    'evaluate-every evaluate-first evaluation-episodes evaluation-samples evaluation-temperature best-metric best-metric-goal patience',
  'Optimizer:':
    'learning-rate learning-rate-schedule warmup-steps warmup-ratio min-learning-rate-ratio schedule-steps adam-beta1 adam-beta2 adam-epsilon weight-decay max-grad-norm epochs mini-batches token-budget',
  'Advantages:':
    'advantage scale-rewards credit gamma zero-variance normalise-process-rewards max-completion-length overlong-buffer overlong-penalty length-penalty truncated max-resamples',
  'Loss:':
    'algorithm loss clip delta ratio-level ratio-cap sapo-temperatures vespo-positive vespo-negative beta kl-in kl-estimator kl-clamp kl-every bias-corrected-kl entropy-coefficient top-entropy-quantile off-policy-threshold mismatch-correction mismatch-cap mismatch-floor',
  'Gate:': 'fail-below against junit metric margin confidence',
  'Files:': 'record replay no-trajectories tensorboard rollouts report-to checkpoint-every keep-checkpoints',
};

const headingOf: ReadonlyMap<string, string> = new Map(
  Object.entries(headings).flatMap(([heading, flags]) =>
    flags.split(' ').map((flag) => [`--${flag}`, heading]),
  ),
);

/** The headings in their order. */
export const helpHeadings: readonly string[] = Object.keys(headings);

/** @param flag `--top-p`. */
export function helpGroup(flag: string | undefined): string | undefined {
  return flag === undefined ? undefined : headingOf.get(flag);
}
