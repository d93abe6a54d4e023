/** The results that belong to a study: of its rows, its worlds, its settings, and the policy that it begins with. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { type Experiment, isOf, type Result } from './results.ts';
import { type Row, type Study, settingsOf } from './studies.ts';

/** What all runs of a study have in common. */
export interface Setting {
  /** Of the weights that the study begins with, as {@link digestOf} gives it. */
  policy: string;
  count: number;
}

export function experimentOf(study: Study, row: Row, seed: number, setting: Setting): Experiment {
  return { study: study.name, row: row.name, seed, settings: settingsOf(study, row), ...setting };
}

/** The folder of an experiment's run: its name, and digits of its SHA-256, so that other settings get another folder. */
export function folderOf(experiment: Experiment): string {
  const { study, row, seed } = experiment;
  const digits = createHash('sha256').update(JSON.stringify(experiment)).digest('hex').slice(0, 8);
  return `${study} ${row} ${seed} ${digits}`.toLowerCase().replaceAll(/[^a-z0-9.+]+/g, '-');
}

/** The newest result of each row and seed that has one, in the order of the rows. */
export function resultsOf(
  study: Study,
  seeds: readonly number[],
  setting: Setting,
  known: readonly Result[],
): Result[] {
  return study.rows.flatMap((row) =>
    seeds.flatMap((seed) => {
      const experiment = experimentOf(study, row, seed, setting);
      return known.findLast((result) => isOf(result, experiment)) ?? [];
    }),
  );
}

/**
 * The first digits of the SHA-256 of a policy's weights.
 * @throws ToolEnvError `usage.no_policy` if the folder has no weights.
 */
export async function digestOf(folder: string): Promise<string> {
  const weights = await readFile(join(folder, 'model.safetensors')).catch((cause: unknown) => {
    const remedy = 'npm run tiny-policy makes it: workshop/README.md says with which recipe.';
    throw new ToolEnvError('usage.no_policy', `${folder} has no policy. ${remedy}`, { cause });
  });
  return createHash('sha256').update(weights).digest('hex').slice(0, 12);
}
