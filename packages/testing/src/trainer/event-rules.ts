/** The rules that the events of every run follow: their order, metrics, trajectories and evaluations. */
import type { TrainEvent } from '@toolenv/core/plugins';
import { checkTrajectory } from '../check-trajectory.ts';
import type { RuleId } from '../rules.ts';
import { brief, Violation } from '../violation.ts';

const ranks: Readonly<Record<TrainEvent['type'], number>> = {
  rollout: 0,
  update: 1,
  evaluation: 2,
  checkpoint: 3,
};

/**
 * The events of steps `from` + 1 to `to`. An evaluation of step `from` may come before them.
 * @param plays Whether steps have rollouts.
 * @throws Violation of `rule`.
 */
export function checkOrder(
  events: readonly TrainEvent[],
  from: number,
  to: number,
  rule: RuleId,
  plays = true,
): void {
  const first = plays ? 'rollout' : 'update';
  let last: Pick<TrainEvent, 'type' | 'step'> = { type: 'update', step: from };
  for (const event of events) {
    const isUnlearned = last.type === 'rollout';
    const follows =
      event.step === last.step &&
      (isUnlearned ? event.type === 'update' : ranks[event.type] > ranks[last.type]);
    const begins = !isUnlearned && event.type === first && event.step === last.step + 1;
    if (!follows && !begins) {
      const expected = isUnlearned ? `update ${last.step}` : `${first} ${last.step + 1}`;
      const before = last.step === from ? 'as the first event' : `after ${last.type} ${last.step}`;
      throw new Violation(rule, `${expected} ${before}`, `${event.type} ${event.step}`);
    }
    last = event;
  }
  if (last.type === 'checkpoint' && last.step === to) return;
  throw new Violation(rule, `checkpoint ${to} as the last event`, `${last.type} ${last.step}`);
}

export function checkMetrics(events: readonly TrainEvent[], rule: RuleId = 'TRN-3'): void {
  for (const event of events) {
    if (event.type === 'checkpoint') continue;
    const wrong = Object.entries(event.metrics ?? { metrics: undefined }).find(
      ([, value]) => typeof value !== 'number' || !Number.isFinite(value),
    );
    if (!wrong) continue;
    const where = `metric "${wrong[0]}" of ${event.type} ${event.step}`;
    throw new Violation(rule, `a finite number as ${where}`, String(wrong[1]));
  }
  checkTokens(events);
}

/** What updates say of tokens: finite numbers, for episodes of the rollout before. */
function checkTokens(events: readonly TrainEvent[]): void {
  let known = new Set<string>();
  for (const event of events) {
    if (event.type === 'rollout') known = new Set(event.trajectories.map(({ episodeId }) => episodeId));
    if (event.type !== 'update') continue;
    for (const { episodeId, turns } of event.tokens ?? []) {
      const where = `the tokens of update ${event.step}`;
      if (!known.has(episodeId))
        throw new Violation('TRN-3', `an episode of the rollout in ${where}`, String(episodeId));
      const values = turns.flatMap(({ advantages = [], entropies = [] }) => [...advantages, ...entropies]);
      const wrong = values.find((value) => !Number.isFinite(value));
      if (wrong !== undefined) throw new Violation('TRN-3', `finite numbers in ${where}`, String(wrong));
    }
  }
}

/** The trajectories of each rollout follow the TRAJ rules. */
export async function checkRollouts(events: readonly TrainEvent[]): Promise<void> {
  for (const event of events) {
    if (event.type !== 'rollout') continue;
    if (!Array.isArray(event.trajectories) || event.trajectories.length === 0) {
      throw new Violation('TRN-4', `trajectories of rollout ${event.step}`, brief(event.trajectories));
    }
    for (const trajectory of event.trajectories) {
      const [broken] = (await checkTrajectory(trajectory)).findings;
      if (!broken) continue;
      const where = `episode ${trajectory.episodeId} of rollout ${event.step}`;
      throw new Violation('TRN-4', `${broken.rule} in ${where}: ${broken.expected}`, broken.received);
    }
  }
}

/** Evaluations of every step that `every` divides, and of no other. */
export function checkEvaluations(events: readonly TrainEvent[], every: number, steps: number): void {
  const expected = Array.from({ length: Math.floor(steps / every) }, (_, i) => (i + 1) * every);
  // An evaluation before the first update is allowed.
  const evaluated = events.flatMap(({ type, step }) => (type === 'evaluation' && step > 0 ? [step] : []));
  if (brief(evaluated) === brief(expected)) return;
  throw new Violation('TRN-5', `evaluations of steps ${brief(expected)}`, brief(evaluated));
}
