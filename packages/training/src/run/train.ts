/** train: improves a policy in an environment with a trainer, and keeps the folder of the run. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { isFolderLost, lockFolder, removePartials, writeAtomic } from '@toolenv/core/files';
import type { TrainEvent } from '@toolenv/core/plugins';
import type { RunEnd } from '../reports/metric-sink.ts';
import { Reports } from '../reports/reports.ts';
import { svgCharts } from '../reports/svg-chart.ts';
import type { TensorBoardLog } from '../reports/tensorboard-log.ts';
import { chartGroups } from '../run-folder/curves.ts';
import {
  configFile,
  envName,
  recordChanges,
  removeConfig,
  runVersions,
  writeConfig,
} from '../run-folder/run-config.ts';
import { forgetEnd, recordEnd } from '../run-folder/run-end.ts';
import { exportPolicy, exportPrompts, refuseRun } from '../run-folder/run-folder.ts';
import { type MetricsLine, RunLog, readMetrics } from '../run-folder/run-log.ts';
import type { RunOptions } from '../trainer/run-options.ts';
import type { TrainSettings } from '../trainer/train-settings.ts';
import { type PreparedRun, type PromptTrainOptions, prepareRun, type TrainOptions } from './prepare-run.ts';

/**
 * Trains, and yields what happens: `for await (const event of train({ env, policy, steps: 4 })) …`. Nothing runs until the
 * first event is requested. The options of the trainer and of the run loop are passed next to the others, and override those of a
 * configured trainer. TypeScript knows them from a trainer; with a reference, name their type: `train<PpoOptions>({ … })`.
 *
 * `out` gets config.json, metrics.jsonl, trajectories.jsonl, curves.svg, `checkpoints/`, and at the end the trained policy
 * in `policy/`, or the texts in prompts.json if the trainer improves prompts, and end.json. No other run can use it meanwhile.
 * @throws ToolEnvError `usage.run` without an environment or a policy, `usage.not_trainable` for a policy without a learner,
 *   `usage.report`, `usage.unknown_plugin`, `usage.unknown_option`, `usage.bad_option`, `usage.out_not_empty`, `usage.other_run`,
 *   `usage.folder_in_use`, `infrastructure.folder_lost` for a run whose folder another process has taken over, `infrastructure.disk`,
 *   and what the trainer throws.
 */
export function train<Options extends object = RunOptions>(
  given: PromptTrainOptions<Options> & NoInfer<Partial<Options>>,
): AsyncGenerator<TrainEvent, void, void>;
export function train<Options extends object = RunOptions>(
  given: TrainOptions<Options> & NoInfer<Partial<Options>>,
): AsyncGenerator<TrainEvent, void, void>;
export async function* train<Options extends object>(
  given: TrainOptions<Options> | PromptTrainOptions<Options>,
): AsyncGenerator<TrainEvent, void, void> {
  const prepared = await prepareRun(given);
  const { run, trainer, options, identity, settings } = prepared;
  const lock = await lockFolder(run.out);
  try {
    await refuseRun(run.out, identity, { ...settings, trainer });
    await removePartials(run.out);
    yield* keepRun(prepared, trainer.train(run, options));
  } finally {
    await lock.release();
  }
}

/** Passes the events of a run on, and keeps its folder. */
async function* keepRun(
  { run, trainer, options, identity, settings, sinks }: PreparedRun,
  events: AsyncIterable<TrainEvent>,
): AsyncGenerator<TrainEvent, void, void> {
  const { out, env, resume, signal } = run;
  const resolvedOptions = trainer.resolve?.(options, run);
  const config = { ...identity, resolvedOptions, ...(await runVersions(env)) };
  const title = `${trainer.name}${env ? ` on ${envName(env)}` : ''}, seed ${run.seed}`;
  const isNew = !(resume && existsSync(join(out, configFile)));
  if (isNew) await writeConfig(out, config);
  else await forgetEnd(out);
  const files = openRunFiles(out, title, settings);
  const reports = await Reports.begin(sinks, { name: title, folder: out, config });
  let isAtWork = false;
  let end: RunEnd = 'killed';
  let failure: unknown;
  try {
    for await (const event of events) {
      checkEvent(event, String(config.trainer));
      // Only the first event says from which step on a resumed run has the present options.
      if (!isAtWork && !isNew) await recordChanges(out, nextStep(event), config);
      isAtWork = true;
      await files.write(event);
      reports.write(event);
      yield event;
    }
    await files.drawCurves();
    await (trainer.improves === 'prompts' ? exportPrompts(out) : exportPolicy(out, run.learner));
    end = 'finished';
  } catch (error) {
    if (!signal?.aborted) [end, failure] = ['failed', error];
    // A run that failed before its first step may be tried again with the same folder.
    if (!isAtWork && isNew && !isFolderLost(error)) await removeConfig(out);
    throw error;
  } finally {
    if (isAtWork || !isNew) await recordEnd(out, end, failure);
    await reports.close(end);
  }
}

/** The step that a resumed run plays next, or has just played. An evaluation or a checkpoint belongs to the step before. */
function nextStep({ type, step }: TrainEvent): number {
  return type === 'rollout' || type === 'update' ? step : step + 1;
}

const types = new Set<unknown>(['rollout', 'update', 'evaluation', 'checkpoint']);

/** @throws ToolEnvError `bug.trainer`, naming the rule that the event breaks. */
function checkEvent(event: TrainEvent, trainer: string): void {
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

/** The files that a run writes as it goes: metrics, episodes, what was learned of their tokens, TensorBoard's events and the curves. */
function openRunFiles(out: string, title: string, settings: TrainSettings) {
  const { trajectories, tensorboard } = settings;
  const log = new RunLog(out, settings);
  let board: TensorBoardLog | undefined;
  /** The lines of metrics.jsonl, once the curves have been drawn. */
  let lines: MetricsLine[] | undefined;

  /** Draws curves.svg, if a step has been played. */
  const drawCurves = async () => {
    lines ??= await readMetrics(out);
    const groups = chartGroups(lines);
    if (groups.length === 0) return;
    const charts = groups.map(({ name, unit, curves }) => ({ title: name, valueLabel: unit, curves }));
    await writeAtomic(join(out, 'curves.svg'), svgCharts(title, charts));
  };
  /** Writes an event. A checkpoint redraws the curves. */
  const write = async (event: TrainEvent) => {
    if (event.type === 'rollout' && trajectories)
      await log.writeEpisodes(event.trajectories, { step: event.step });
    await log.write(event);
    if (event.type === 'update' && event.tokens && trajectories)
      await log.writeTokens(event.tokens, event.step);
    if (tensorboard) {
      // Only a run that writes TensorBoard's files loads their encoder.
      const { TensorBoardLog } = await import('../reports/tensorboard-log.ts');
      board ??= new TensorBoardLog(join(out, 'tensorboard'));
      await board.write(event);
    }
    if (event.type === 'checkpoint') await drawCurves();
    else lines?.push({ type: event.type, step: event.step, metrics: event.metrics });
  };
  return { write, drawCurves };
}
