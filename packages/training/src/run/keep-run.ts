/** keepRun: writes what happens in a run to its folder and to its trackers. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TrainEvent } from '@toolenv/core/plugins';
import type { RunEnd } from '../reports/metric-sink.ts';
import { Reports } from '../reports/reports.ts';
import { configFile, removeConfig, writeConfig } from '../run-folder/config-file.ts';
import { recordChanges } from '../run-folder/run-changes.ts';
import { envName, runVersions } from '../run-folder/run-config.ts';
import { exportPolicy } from '../run-folder/run-folder.ts';
import { checkEvent } from './check-event.ts';
import type { PreparedRun } from './prepare-run.ts';
import { RunFiles } from './run-files.ts';

/** Passes the events of a run on, and keeps its folder. */
export async function* keepRun(
  { run, trainer, identity, settings, sinks }: PreparedRun,
  events: AsyncIterable<TrainEvent>,
): AsyncGenerator<TrainEvent, void, void> {
  const { out, env, resume, signal } = run;
  const config = { ...identity, ...(await runVersions(env)) };
  const title = `${trainer.name}${env ? ` on ${envName(env)}` : ''}, seed ${run.seed}`;
  const isNew = !(resume && existsSync(join(out, configFile)));
  if (isNew) await writeConfig(out, config);
  const files = new RunFiles(out, { ...settings, title });
  const reports = await Reports.begin(sinks, { name: title, folder: out, config });
  let isAtWork = false;
  let end: RunEnd = 'killed';
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
    await exportPolicy(out);
    end = 'finished';
  } catch (error) {
    if (!signal?.aborted) end = 'failed';
    // A run that failed before its first step may be tried again with the same folder.
    if (!isAtWork && isNew) await removeConfig(out);
    throw error;
  } finally {
    await reports.close(end);
  }
}

/** The step that a resumed run plays next, or has just played. An evaluation or a checkpoint belongs to the step before. */
function nextStep({ type, step }: TrainEvent): number {
  return type === 'rollout' || type === 'update' ? step : step + 1;
}
