/** The metrics of a rollout, named as in `metricNames`. */
import {
  type ModelMistake,
  type ModelUsage,
  type Outcome,
  type Trajectory,
  type TurnUsage,
  toolUsage,
  turnUsage,
} from '@toolenv/core';
import type { Metrics } from '@toolenv/core/plugins';
import { abortMetrics } from '../reports/abort-metrics.ts';
import { groupBy, mean } from '../rows/averages.ts';
import { outcomeScore } from '../rows/outcome-score.ts';
import { scoresOfGroups, zeroVarianceFraction } from '../rows/zero-variance.ts';

type Mistake = ModelMistake['code'] | 'tool_error';
type Truncation = Extract<Outcome, { kind: 'truncated' }>['reason'];

// Records, so that the compiler asks for a kind that is new. All are reported, because a chart shows no zero that is missing.
const mistakes: Record<Mistake, true> = {
  malformed_call: true,
  unknown_tool: true,
  invalid_arguments: true,
  too_many_calls: true,
  tool_error: true,
};
const truncations: Record<Truncation, true> = {
  max_turns: true,
  max_tokens: true,
  deadline: true,
  context: true,
};

/** Seconds of wall-clock time. */
export interface RolloutTime {
  rollout: number;
  /** In which an episode waited for its environment, if that is known. */
  environment?: number;
}

/**
 * Rewards are of the scored trajectories. Everything else is of those that were not aborted, except what counts all: `episodes`, `aborted`
 * and `generated_tokens`.
 */
export function rolloutMetrics(trajectories: readonly Trajectory[], time: RolloutTime): Metrics {
  const ended = trajectories.filter(({ outcome }) => outcome.kind !== 'aborted');
  const scored = ended.filter(({ reward }) => reward !== null);
  const faults: Record<string, number> = {};
  for (const { outcome } of trajectories)
    if (outcome.kind === 'aborted') faults[outcome.cause.code] = (faults[outcome.cause.code] ?? 0) + 1;
  const isGrouped = new Set(trajectories.map(({ group }) => group)).size < trajectories.length;
  const generated = trajectories.flatMap(turnLengths).reduce((sum, length) => sum + length, 0);
  return {
    ...rewardMetrics(scored, isGrouped),
    episodes: trajectories.length,
    ...abortMetrics(faults, trajectories.length),
    ...(scored.length < ended.length && { unscored: ended.length - scored.length }),
    ...episodeMetrics(ended),
    ...toolMetrics(ended),
    ...metricsByTool(ended),
    ...unusedTools(ended),
    generated_tokens: generated,
    ...namedTurnUsage(turnUsage(trajectories)),
    ...namedUsage(toolUsage(trajectories)),
    'time/rollout': time.rollout,
    ...(time.environment !== undefined && {
      'time/environment': time.environment,
      'time/generation': Math.max(0, time.rollout - time.environment),
    }),
    ...(time.rollout > 0 && { 'tokens_per_second/generation': generated / time.rollout }),
  };
}

/** Without rewards, there is no mean and no deviation. */
function rewardMetrics(scored: readonly Trajectory[], isGrouped: boolean): Metrics {
  const metrics: Metrics = isGrouped ? { frac_reward_zero_std: zeroVarianceFraction(scored) } : {};
  if (scored.length === 0) return metrics;
  const rewards = scored.map(({ reward }) => reward!);
  metrics.reward = mean(rewards);
  const groups = isGrouped ? [...scoresOfGroups(scored).values()] : [rewards];
  const spreads = groups.map(standardDeviation).filter((spread) => spread !== undefined);
  if (spreads.length > 0) metrics.reward_std = mean(spreads);
  for (const name of new Set(scored.flatMap((trajectory) => Object.keys(trajectory.rewards)))) {
    const values = scored
      .map((trajectory) => trajectory.rewards[name])
      .filter((value) => typeof value === 'number');
    if (values.length === 0) continue;
    metrics[`rewards/${name}/mean`] = mean(values);
    const deviation = standardDeviation(values);
    if (deviation !== undefined) metrics[`rewards/${name}/std`] = deviation;
  }
  return metrics;
}

function episodeMetrics(ended: readonly Trajectory[]): Metrics {
  const turns = ended.map(({ steps }) => steps.length);
  const lengths = ended.map((trajectory) => turnLengths(trajectory).reduce((sum, each) => sum + each, 0));
  const ofTurns = ended.flatMap(turnLengths);
  const cut = ended.flatMap(({ steps }) => steps.filter(({ action }) => action.stopReason === 'length'));
  const reasons = ended.map(({ outcome }) => (outcome.kind === 'truncated' ? outcome.reason : undefined));
  const share = (reason: string) =>
    reasons.filter((each) => each === reason).length / Math.max(ended.length, 1);
  const thoughts = ended.map(({ steps }) =>
    steps.reduce((sum, { action }) => sum + (action.reasoning?.length ?? 0), 0),
  );
  return {
    ...(thoughts.some(Boolean) && { 'completions/mean_thought': mean(thoughts) }),
    'completions/clipped_ratio': reasons.filter(Boolean).length / Math.max(ended.length, 1),
    ...Object.fromEntries(Object.keys(truncations).map((reason) => [`truncated/${reason}`, share(reason)])),
    'num_turns/mean': mean(turns),
    'num_turns/min': least(turns),
    'num_turns/max': most(turns),
    'completions/mean_length': mean(lengths),
    'completions/min_length': least(lengths),
    'completions/max_length': most(lengths),
    'tokens_per_turn/mean': mean(ofTurns),
    'tokens_per_turn/max': most(ofTurns),
    'tokens_per_turn/clipped_ratio': cut.length / Math.max(ofTurns.length, 1),
    ...logPerplexity(ended),
  };
}

function toolMetrics(ended: readonly Trajectory[]): Metrics {
  const calls = ended.flatMap(({ steps }) => steps.flatMap((step) => step.calls));
  const kinds = calls.map(
    ({ mistake, result }) => mistake?.code ?? (result?.isError ? 'tool_error' : undefined),
  );
  const share = (count: number) => count / Math.max(calls.length, 1);
  return {
    'tools/call_frequency': calls.length / Math.max(ended.length, 1),
    'tools/failure_frequency': share(kinds.filter(Boolean).length),
    ...Object.fromEntries(
      Object.keys(mistakes).map((kind) => [
        `mistakes/${kind}`,
        share(kinds.filter((each) => each === kind).length),
      ]),
    ),
  };
}

/** Only tools that answered a call: names that the model made up would have no end. */
function metricsByTool(ended: readonly Trajectory[]): Metrics {
  const answered = ended.flatMap(({ steps }) =>
    steps.flatMap(({ calls }) =>
      calls.flatMap(({ call, result }) => (result && 'name' in call ? [{ name: call.name, result }] : [])),
    ),
  );
  const metrics: Metrics = {};
  for (const [name, calls] of groupBy(answered, (call) => call.name)) {
    metrics[`tools/${name}/call_frequency`] = calls.length / ended.length;
    metrics[`tools/${name}/error_frequency`] = mean(
      calls.map(({ result }) => Number(result.isError === true)),
    );
  }
  return metrics;
}

/** Nothing if no episode has tools. */
function unusedTools(ended: readonly Trajectory[]): Metrics {
  const equipped = ended.filter(({ steps }) => steps.some(({ observation }) => observation.tools.length > 0));
  if (equipped.length === 0) return {};
  // The tools of an agent run in the agent, so that only its turns have the calls.
  const isUnused = ({ steps }: Trajectory) =>
    steps.every(({ action, calls }) => calls.length + action.toolCalls.length === 0);
  const unused = equipped.filter(isUnused);
  const outcomes = unused.map((trajectory) => outcomeScore(trajectory)).filter((score) => score !== null);
  return {
    'tools/unused_ratio': unused.length / equipped.length,
    ...(outcomes.length > 0 && { 'tools/unused_outcome': mean(outcomes) }),
  };
}

/** What tools have asked of models, such as judges. Nothing if no tool asks a model. */
export function namedUsage(usage: ModelUsage | undefined): Metrics {
  if (!usage) return {};
  return {
    'tools/model_requests': usage.requests,
    'tools/model_input_tokens': usage.inputTokens,
    'tools/model_output_tokens': usage.outputTokens,
  };
}

/** What the policy has asked of a model on a server. Nothing if it computes on this machine. */
export function namedTurnUsage(usage: TurnUsage | undefined): Metrics {
  if (!usage) return {};
  return {
    'policy/model_requests': usage.requests,
    'policy/model_input_tokens': usage.inputTokens,
    'policy/model_cached_tokens': usage.cachedTokens,
    'policy/model_output_tokens': usage.outputTokens,
    ...(usage.cost !== undefined && { 'policy/model_cost': usage.cost }),
    'policy/model_seconds': usage.milliseconds / 1000,
  };
}

/** Generated tokens of each turn. */
function turnLengths({ steps }: Trajectory): number[] {
  return steps.map(({ action }) => action.tokens?.action.length ?? 0);
}

function logPerplexity(ended: readonly Trajectory[]): Metrics {
  const ofEpisodes = ended
    .map(({ steps }) => steps.flatMap(({ action }) => [...(action.tokens?.logprobs ?? [])]))
    .filter(({ length }) => length > 0);
  if (ofEpisodes.length === 0) return {};
  return { 'rollout_corr/rollout_log_ppl': -mean(ofEpisodes.map(mean)) };
}

/** With n − 1 in the denominator, as in TRL; `undefined` for fewer than two values. */
function standardDeviation(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined;
  const center = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1));
}

/** 0 of no values, here and below. A rollout may have more turns than a call may have arguments. */
function least(values: readonly number[]): number {
  return values.reduce((smallest, value) => Math.min(smallest, value), values[0] ?? 0);
}

function most(values: readonly number[]): number {
  return values.reduce((largest, value) => Math.max(largest, value), values[0] ?? 0);
}
