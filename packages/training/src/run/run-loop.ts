/** The run loop of every trainer: roll out, update, evaluate, checkpoint; resume, and stop without losing a step. */
import { deriveSeed, messageOf } from '@toolenv/core';
import type { Metrics, Run, TrainEvent } from '@toolenv/core/plugins';
import { validationScores } from '../evaluation/validation-scores.ts';
import { learningRateSchedule, scheduledAdamW } from '../learning-rate/learning-rate-schedule.ts';
import { optimizerStep } from '../losses/optimizer-step.ts';
import { StepTimes, timed } from '../metrics/step-times.ts';
import { TokenReports } from '../metrics/token-reports.ts';
import { requireEnv } from '../options/require-parts.ts';
import type { RunOptions } from '../options/run-options.ts';
import { TaskHistory } from '../rollouts/task-history.ts';
import { resumeCheckpoint, saveCheckpoint } from '../run-folder/checkpoints.ts';
import type { Algorithm, AlgorithmContext, DataAlgorithm } from '../trainer/algorithm.ts';
import { WorkerRollouts } from '../workers/worker-rollouts.ts';
import { BestEvaluation } from './best-evaluation.ts';
import { dataSteps, episodeSteps, type Step, workerSteps } from './steps.ts';

/**
 * Rollouts of step N are seeded by (seed, N), so that a resumed run repeats them. With `maxStaleness` above 0 they depend
 * on timing as well.
 * @param create Makes the algorithm, before a checkpoint is loaded.
 */
export async function* runLoop<Options extends RunOptions>(
  run: Run,
  options: Options,
  create: (
    context: Omit<AlgorithmContext<Options>, 'parts'>,
  ) => Algorithm | DataAlgorithm | Promise<Algorithm | DataAlgorithm>,
): AsyncGenerator<TrainEvent, void, void> {
  const { out, seed, signal } = run;
  const times = new StepTimes(run.learner);
  const { learner } = times;
  const { temperature, checkpointEvery, evaluateEvery } = options;
  const best = new BestEvaluation(options);
  let step = 0;
  /** The learning rate of the last optimizer step. */
  let rate: Metrics = {};
  const reports = new TokenReports();
  const algorithm = await create({
    options,
    run,
    learner,
    optimize: (rows, gradients, given) => {
      const optimizer = scheduledAdamW(given, options, shareOf(step));
      rate = { learning_rate: optimizer.learningRate };
      return optimizerStep(learner, { rows: [...rows], temperature }, gradients, { ...optimizer, out });
    },
    report: (quantity, rows, values) => reports.add(quantity, rows, values),
  });
  const fromData = 'learn' in algorithm ? algorithm : undefined;
  const steps = fromData?.steps ?? options.steps;
  const shareOf = learningRateSchedule({ ...options, steps });
  const history = new TaskHistory();
  // Without a choice of tasks there is nothing to remember.
  const own = run.env?.draw ? history.savedWith(learner) : learner;
  const workers = workersOf(run, options, history);
  const saveable = workers ? workers.groups.savedWith(own) : own;
  const resumed = run.resume ? await resumeCheckpoint(out, saveable) : undefined;
  const { evaluationDue = 0, ...memory } = best.restore(resumed?.memory ?? {});
  if (algorithm.memory) Object.assign(algorithm.memory, memory);

  step = resumed?.step ?? 0;
  /** Whether the weights are those after `step` updates, and not in the middle of one. */
  let isWhole = true;
  /** The step of the newest checkpoint. */
  let saved = step;
  /** Whether an evaluation of these weights is due. */
  let isDue = evaluationDue === 1;
  /** Whether the last evaluation was the best so far, and its weights are not saved yet. */
  let isBest = false;
  const evaluate = async (): Promise<TrainEvent> => {
    const { result: scores, seconds } = await timed(async () => ({
      ...(await validationScores(run, options)),
      ...(await fromData?.evaluate?.()),
    }));
    isDue = false;
    isBest = best.judge(step, scores);
    return { type: 'evaluation', step, metrics: { ...scores, 'time/evaluation': seconds } };
  };
  const save = async (): Promise<TrainEvent> => {
    const remembered = { ...algorithm.memory, ...best.memory, ...(isDue && { evaluationDue: 1 }) };
    isBest = false;
    // Not tried again after it has failed.
    saved = step;
    const kept = { keep: options.keepCheckpoints, best: best.step };
    const folder = await times.save(() =>
      saveCheckpoint(out, saveable, { step, seed, memory: remembered }, kept),
    );
    return { type: 'checkpoint', step, folder };
  };

  try {
    if (isDue || (options.evaluateFirst && !resumed)) {
      yield await evaluate();
      if (best.isOn) yield await save();
    }
    if (best.isOver) return;
    const range = { from: step, to: steps };
    const all = (): AsyncGenerator<Step, void, void> => {
      if ('learn' in algorithm) return dataSteps(algorithm, range);
      if (workers) return workerSteps(algorithm, workers, range);
      return episodeSteps(algorithm, { ...run, env: requireEnv(run.env) }, options, range, history.results);
    };
    for await (const { rollout, staleness, learn } of all()) {
      if (rollout) {
        const { metrics, played } = rollout;
        yield { type: 'rollout', step: step + 1, metrics, trajectories: played };
      }
      signal?.throwIfAborted();

      isWhole = false;
      rate = {};
      const learned = await times.update(() => learn({ step, seed: deriveSeed(seed, 'step', step) }));
      step += 1;
      if (rollout && run.env?.draw) history.add(rollout, step);
      isWhole = true;
      const behind = staleness !== undefined && { staleness };
      const metrics = { ...learned, ...rate, ...behind };
      const of = fromData?.steps !== undefined && { of: steps };
      const tokens = reports.take();
      yield { type: 'update', step, ...of, metrics, ...(tokens.length > 0 && { tokens }) };

      isDue = evaluateEvery > 0 && step % evaluateEvery === 0;
      if (isDue) yield await evaluate();
      const isLast = step === steps || best.isOver;
      if (isLast || isBest || (checkpointEvery > 0 && step % checkpointEvery === 0)) yield await save();
      if (isLast) {
        await workers?.finish(step);
        return;
      }
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

function workersOf(run: Run, options: RunOptions, history: TaskHistory): WorkerRollouts | undefined {
  const { rollouts } = run;
  if (rollouts === undefined) return undefined;
  return new WorkerRollouts({ ...run, rollouts, env: requireEnv(run.env) }, options, () => history.results);
}
