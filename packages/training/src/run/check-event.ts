/** checkEvent: whether what a trainer yields is an event, before it is written to the folder of the run. */
import { ToolEnvError } from '@toolenv/core';
import type { TrainEvent } from '@toolenv/core/plugins';

const types = new Set<unknown>(['rollout', 'update', 'evaluation', 'checkpoint']);

/** @throws ToolEnvError `bug.trainer`, naming the rule that the event breaks. */
export function checkEvent(event: TrainEvent, trainer: string): void {
  const { type, step, metrics, tokens, trajectories } = Object(event);
  const broken = (rule: string, problem: string) =>
    new ToolEnvError('bug.trainer', `The trainer ${trainer} breaks ${rule}: ${problem}.`);
  if (!types.has(type)) throw broken('TRN-2', `its event has the type ${JSON.stringify(type)}`);
  if (!Number.isInteger(step) || step < 0) throw broken('TRN-2', `the step of its ${type} is ${step}`);
  if (type === 'checkpoint') return;
  const wrong = Object.entries(Object(metrics)).find(([, value]) => typeof value !== 'number');
  if (Object(metrics) !== metrics || wrong) {
    throw broken(
      'TRN-3',
      `${wrong ? `metric "${wrong[0]}"` : 'the metrics'} of ${type} ${step} are not numbers`,
    );
  }
  if (type === 'update' && tokens !== undefined && !isTokenReports(tokens)) {
    throw broken('TRN-3', `the tokens of update ${step} are not reports of episodes`);
  }
  if (type === 'rollout' && !Array.isArray(trajectories)) {
    throw broken('TRN-4', `rollout ${step} has no trajectories`);
  }
}

function isTokenReports(tokens: unknown): boolean {
  return (
    Array.isArray(tokens) &&
    tokens.every((report) => typeof report?.episodeId === 'string' && Array.isArray(report.turns))
  );
}
