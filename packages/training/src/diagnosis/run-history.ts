/** RunHistory: the records of a run as diagnoses read them. Damaged values count as absent. */
import type { RewardComponent, RewardSpec } from '@toolenv/core';
import { isRightness, primaryMetric } from '../reports/primary-metric.ts';
import { successShare, weighingComponents, weightedRange } from '../rollouts/success-share.ts';
import type { MetricsLine } from '../run-folder/run-log.ts';
import { changeOf, hasRisen, meanOf, type Series } from './series.ts';

/** What a run has recorded. */
export interface RunRecords {
  /** Lines of metrics.jsonl. */
  metrics: readonly MetricsLine[];
  /** `trainerOptions` of config.json. */
  options?: Readonly<Record<string, unknown>> | undefined;
  /** `rewardSpec` of config.json. */
  rewardSpec?: RewardSpec | undefined;
}

/** A success rate from which on nothing is left to learn. */
const solved = 0.9;

export class RunHistory {
  /** The outcome reward as a share of its range, by step: 0 is the worst, 1 the best. Empty if its range is unknown. */
  readonly success: Series;
  /** Components that the trainer sees, as far as they are known. */
  readonly trained: Readonly<Record<string, RewardComponent>>;
  /** Components that count what should not happen. */
  readonly monitors: readonly string[];
  readonly #lines: readonly MetricsLine[];
  readonly #options: Readonly<Record<string, unknown>>;

  constructor({ metrics, options, rewardSpec }: RunRecords) {
    this.#lines = metrics.filter((line) => Number.isInteger(line?.step) && typeof line.metrics === 'object');
    this.#options = Object(options);
    this.trained = weighingComponents(rewardSpec);
    const components = Object.entries(Object(rewardSpec) as RewardSpec);
    this.monitors = components.filter(([, each]) => Object(each).monitor === true).map(([name]) => name);
    this.success = this.#successOf();
  }

  /** A metric of the rollouts. */
  rollout(metric: string): Series {
    return this.#series('rollout', metric);
  }

  /** A metric of the updates. */
  update(metric: string): Series {
    return this.#series('update', metric);
  }

  /** Names of the metrics of rollouts. */
  get rolloutMetrics(): ReadonlySet<string> {
    const rollouts = this.#lines.filter(({ type }) => type === 'rollout');
    return new Set(rollouts.flatMap(({ metrics }) => Object.keys(metrics ?? {})));
  }

  /** A number among the trainer's options. */
  option(name: string): number | undefined {
    const value = this.#options[name];
    return typeof value === 'number' ? value : undefined;
  }

  /** Whether the policy learns the task, or has learned it. */
  get learns(): boolean {
    return (
      hasRisen(changeOf(this.success)) ||
      this.isSolved ||
      (this.success.length === 0 && hasRisen(changeOf(this.rollout('reward'))))
    );
  }

  /** Whether the last steps succeed. */
  get isSolved(): boolean {
    return meanOf(this.success.slice(-3)) >= solved;
  }

  #series(type: MetricsLine['type'], metric: string): Series {
    return this.#lines.flatMap((line) => {
      const value: unknown = line.type === type ? line.metrics?.[metric] : undefined;
      return typeof value === 'number' && Number.isFinite(value) ? [[line.step, value] as const] : [];
    });
  }

  /** The least and the largest weighted outcome reward; 0 and 1 if the run does not say what its environment declares. */
  get outcomeRange(): readonly [low: number, high: number] {
    if (Object.keys(this.trained).length === 0) return [0, 1];
    return weightedRange(this.#ofKind('outcome').map(([, component]) => component));
  }

  /** Values of the weighted outcome reward as a share of its range; none if there is no such reward. */
  shareOfOutcome(series: Series): Series {
    const [low, high] = this.outcomeRange;
    return high > low ? series.map(([step, value]) => [step, (value - low) / (high - low)]) : [];
  }

  /** What an episode earns by the weighted components of a kind, by step. Empty without such components. */
  earned(kind: RewardComponent['kind']): Series {
    const sums = new Map<number, number>();
    for (const [name, { weight }] of this.#ofKind(kind))
      for (const [step, value] of this.rollout(`rewards/${name}/mean`))
        sums.set(step, (sums.get(step) ?? 0) + weight * value);
    return [...sums];
  }

  #ofKind(wanted: RewardComponent['kind']): [string, RewardComponent][] {
    return Object.entries(this.trained).filter(([, { kind }]) => kind === wanted);
  }

  #successOf(): Series {
    const means = new Map<number, Record<string, number>>();
    for (const metric of this.rolloutMetrics) {
      const name = /^rewards\/(.+)\/mean$/.exec(metric)?.[1];
      if (name === undefined) continue;
      for (const [step, value] of this.rollout(metric)) {
        const known = means.get(step) ?? {};
        means.set(step, known);
        known[name] = value;
      }
    }
    const spec = Object.keys(this.trained).length > 0 ? this.trained : reportedSpec([...means.values()]);
    return [...means].flatMap(([step, rewards]) => {
      const share = successShare(spec, rewards);
      return share === undefined ? [] : [[step, share] as const];
    });
  }
}

/** The component that says which episodes were right, if the run does not say what its environment declares. */
function reportedSpec(means: readonly Record<string, number>[]): RewardSpec {
  const right = primaryMetric([...new Set(means.flatMap((each) => Object.keys(each)))]);
  if (right === undefined || !isRightness(right)) return {};
  return { [right]: { kind: 'outcome', range: [0, 1], weight: 1 } };
}
