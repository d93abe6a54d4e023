/** RunCost: the time and the tokens of a run. */
import type { MetricsLine } from '@toolenv/training';

export interface RunCost {
  /** In the order of a step. Empty if no time was recorded. */
  parts: { name: CostPart; seconds: number }[];
  /** Of all steps; absent if no time was recorded. */
  seconds?: number;
  generatedTokens?: number;
  learnedTokens?: number;
  /** Tokens that models read and generated for tools, such as judges. */
  toolTokens?: number;
}

export type CostPart = 'generation' | 'environment' | 'update' | 'evaluation' | 'checkpoint' | 'other';

const metricsOf: readonly [name: CostPart, metric: string][] = [
  ['generation', 'time/generation'],
  ['environment', 'time/environment'],
  ['update', 'time/update'],
  ['evaluation', 'time/evaluation'],
  ['checkpoint', 'time/checkpoint'],
];

/** Parts of less than a hundredth of the time count as `other`. */
const least = 0.01;

export function trainingCost(lines: readonly MetricsLine[]): RunCost {
  const sum = (...names: string[]): number | undefined => {
    const values = lines.flatMap(({ metrics }) =>
      names.flatMap((name) => (Number.isFinite(metrics[name]) ? [metrics[name]!] : [])),
    );
    return values.length === 0 ? undefined : values.reduce((total, value) => total + value, 0);
  };
  const parts = metricsOf.flatMap(([name, metric]) => {
    const seconds = sum(metric);
    return seconds === undefined ? [] : [{ name, seconds }];
  });
  const timed = parts.reduce((total, { seconds }) => total + seconds, 0);
  // An evaluation before the first step is in no step's time.
  const seconds = parts.length === 0 ? undefined : Math.max(sum('step_time') ?? 0, timed);
  const shown = parts.filter((part) => part.seconds >= least * (seconds ?? 0));
  const rest = (seconds ?? 0) - shown.reduce((total, part) => total + part.seconds, 0);
  return {
    parts: rest > least * (seconds ?? 0) ? [...shown, { name: 'other', seconds: rest }] : shown,
    seconds,
    generatedTokens: sum('generated_tokens'),
    learnedTokens: sum('learned_tokens'),
    toolTokens: sum('tools/model_input_tokens', 'tools/model_output_tokens'),
  };
}
