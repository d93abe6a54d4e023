/** The run loop of every trainer: roll out, update, evaluate, checkpoint; resume, and stop without losing a step. */
import { deriveSeed, messageOf } from '@toolenv/core';
import type { Metrics, Run, TrainEvent } from '@toolenv/core/plugins';
import type { Algorithm, AlgorithmContext } from './algorithm.ts';
import { resumeCheckpoint, saveCheckpoint } from './checkpoints.ts';
import { validationScores } from './evaluation/validation-scores.ts';
import { optimizerStep } from './losses/optimizer-step.ts';
import { StepTimes, timed } from './metrics/step-times.ts';
import { AbortWatch } from './rollouts/abort-watch.ts';
import { type PlayedStep, playStep } from './rollouts/play-step.ts';
import { rolloutsAhead } from './rollouts/rollouts-ahead.ts';
import { toTrainingRows } from './rows/training-row.ts';
import type { RunOptions } from './run-options.ts';

/**
 * Rollouts of step N are seeded by (seed, N), so that a resumed run repeats them. With `maxStaleness` above 0 they depend
 * on timing as well.
 * @param create Makes the algorithm, before a checkpoint is loaded.
 */
export async function* runLoop<Options extends RunOptions>(
  run: Run,
  options: Options,
  create: (context: AlgorithmContext<Options>) => Algorithm | Promise<Algorithm>,
): AsyncGenerator<TrainEvent, void, void> {
  const { out, seed, signal } = run;
  const times = new StepTimes(run.learner);
  const { learner } = times;
  const { steps, temperature, maxStaleness, checkpointEvery, evaluateEvery } = options;
  const algorithm = await create({
    options,
    run,
    learner,
    optimize: (rows, gradients, optimizer) =>
      optimizerStep(learner, { rows: [...rows], temperature }, gradients, { ...optimizer, out }),
  });
  const resumed = run.resume ? await resumeCheckpoint(out, learner) : undefined;
  const { evaluationDue = 0, ...memory } = resumed?.memory ?? {};
  if (algorithm.memory) Object.assign(algorithm.memory, memory);

  let step = resumed?.step ?? 0;
  /** Whether the weights are those after `step` updates, and not in the middle of one. */
  let isWhole = true;
  /** The step of the newest checkpoint. */
  let saved = step;
  /** Whether an evaluation of these weights is due. */
  let isDue = evaluationDue === 1;
  const evaluate = async (): Promise<TrainEvent> => {
    const { result: metrics, seconds } = await timed(() => validationScores(run, options));
    isDue = false;
    return { type: 'evaluation', step, metrics: { ...metrics, 'time/evaluation': seconds } };
  };
  const save = async (): Promise<TrainEvent> => {
    const remembered = { ...algorithm.memory, ...(isDue && { evaluationDue: 1 }) };
    // Not tried again after it has failed.
    saved = step;
    const folder = await times.save(() => saveCheckpoint(out, learner, { step, seed, memory: remembered }));
    return { type: 'checkpoint', step, folder };
  };

  try {
    if (isDue) yield await evaluate();
    const range = { from: step, to: steps, ahead: maxStaleness, signal };
    const watch = new AbortWatch(options.maxAborted);
    const rollouts = rolloutsAhead(range, (at, stop) =>
      playStep({ ...run, signal: stop }, options, at, algorithm.resample, watch),
    );
    for await (const { rollout, staleness } of rollouts) {
      const { metrics, played, scored } = rollout;
      yield { type: 'rollout', step: step + 1, metrics, trajectories: played };
      signal?.throwIfAborted();

      isWhole = false;
      const learned = await times.update(() =>
        update(algorithm, scored, step, deriveSeed(seed, 'step', step)),
      );
      step += 1;
      isWhole = true;
      const behind = maxStaleness > 0 && { staleness };
      yield { type: 'update', step, metrics: { ...learned, ...behind } };

      isDue = evaluateEvery > 0 && step % evaluateEvery === 0;
      if (isDue) yield await evaluate();
      if (step === steps || (checkpointEvery > 0 && step % checkpointEvery === 0)) yield await save();
    }
  } catch (error) {
    // A run that is interrupted or fails keeps every finished step.
    if (isWhole && step > saved) {
      try {
        yield await save();
      } catch (unsaved) {
        // The first error is the one to report.
        process.emitWarning(messageOf(unsaved));
      }
    }
    throw signal?.aborted && isWhole ? signal.reason : error;
  }
}

async function update(
  algorithm: Algorithm,
  trajectories: PlayedStep['scored'],
  step: number,
  seed: number,
): Promise<Metrics> {
  const rows = trajectories.flatMap(toTrainingRows);
  if (rows.length === 0) return { loss: 0, grad_norm: 0, learned_tokens: 0 };
  return algorithm.update({ step, seed, trajectories, rows });
}
