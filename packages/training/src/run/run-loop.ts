/** The run loop of every trainer: roll out, update, evaluate, checkpoint; resume, and stop without losing a step. */
import { messageOf } from '@toolenv/core';
import type { Run, Scorer, TrainEvent } from '@toolenv/core/plugins';
import type { RunOptions } from '../trainer/run-options.ts';
import { type CreateAlgorithm, RunState } from './run-state.ts';

/**
 * Rollouts of step N are seeded by (seed, N), so that a resumed run repeats them. With `maxStaleness` above 0 they depend
 * on timing as well.
 */
export async function* runLoop<Options extends RunOptions>(
  run: Run,
  options: Options,
  create: CreateAlgorithm<Options>,
  scorer?: Scorer,
): AsyncGenerator<TrainEvent, void, void> {
  const state = await RunState.begin(run, options, create, scorer);
  try {
    if (state.isEvaluationDue) {
      yield await state.evaluate();
      if (options.bestMetric !== undefined) yield await state.save();
    }
    if (state.isOver) return;
    for await (const step of state.steps()) {
      if (step.rollout) {
        const { metrics, played } = step.rollout;
        yield { type: 'rollout', step: state.step + 1, metrics, trajectories: played };
      }
      run.signal?.throwIfAborted();
      yield await state.update(step);
      if (state.isEvaluationDue) yield await state.evaluate();
      if (state.isCheckpointDue) yield await state.save();
      if (state.isOver) return await state.finish();
    }
  } catch (error) {
    yield* saveFinishedSteps(state);
    throw run.signal?.aborted && state.isWhole ? run.signal.reason : error;
  } finally {
    await state.close();
  }
}

/** A run that is interrupted or fails keeps every finished step. The error that ended the run is the error to report. */
async function* saveFinishedSteps(state: RunState): AsyncGenerator<TrainEvent, void, void> {
  if (!state.isWhole || state.isSaved) return;
  try {
    yield await state.save();
  } catch (unsaved) {
    process.emitWarning(messageOf(unsaved));
  }
}
