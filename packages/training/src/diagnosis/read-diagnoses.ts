/** readDiagnoses: what the folder of a run says is wrong with the run. */
import type { RewardSpec } from '@toolenv/core';
import { readConfig } from '../run-folder/run-config.ts';
import { readMetrics } from '../run-folder/run-log.ts';
import { diagnose } from './diagnose.ts';
import type { Diagnosis } from './diagnosis.ts';

/**
 * The diagnoses of a run folder, causes first. A folder without metrics has none.
 * @throws ToolEnvError `usage.broken_record`, `usage.other_run` for a damaged file.
 */
export async function readDiagnoses(folder: string): Promise<Diagnosis[]> {
  const config = (await readConfig(folder)) ?? {};
  return diagnose({
    metrics: await readMetrics(folder),
    options: config.trainerOptions as Record<string, unknown> | undefined,
    rewardSpec: config.rewardSpec as RewardSpec | undefined,
  });
}
