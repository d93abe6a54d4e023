/** diagnose: the faults that the records of a run show, the most important first. */
import type { RewardSpec } from '@toolenv/core';
import { readConfig } from '../run-folder/run-config.ts';
import { readMetrics } from '../run-folder/run-log.ts';
import { abortedEpisodes, growingAborts } from './aborts.ts';
import { failingTool, leakedAnswer, malformedCalls, noCalls, wrongTemplate } from './calls.ts';
import type { Diagnosis, DiagnosisName, DiagnosisRule } from './diagnosis.ts';
import { learningRateTooHigh, learningRateTooLow } from './learning-rate.ts';
import { constantComponent, monitorRises, processRewardAlone, rewardWithoutOutcome } from './rewards.ts';
import { RunHistory, type RunRecords } from './run-history.ts';
import { samplerMismatch, stalePolicy } from './sampler-distance.ts';
import {
  lengthAtLimit,
  truncatedByContext,
  truncatedByDeadline,
  truncatedByTokens,
  truncatedByTurns,
} from './truncated-episodes.ts';
import { allRight, allWrong, entropyCollapse, noVariance } from './variance.ts';

/** How each fault is found. Causes come before their consequences, because few are printed. */
export const diagnosisRules: Readonly<Record<DiagnosisName, DiagnosisRule>> = {
  'growing-aborts': growingAborts,
  'aborted-episodes': abortedEpisodes,
  'wrong-template': wrongTemplate,
  'malformed-calls': malformedCalls,
  'sampler-mismatch': samplerMismatch,
  'leaked-answer': leakedAnswer,
  'failing-tool': failingTool,
  'stale-policy': stalePolicy,
  'learning-rate-too-high': learningRateTooHigh,
  'reward-without-outcome': rewardWithoutOutcome,
  'monitor-rises': monitorRises,
  'truncated-by-tokens': truncatedByTokens,
  'no-calls': noCalls,
  'truncated-by-turns': truncatedByTurns,
  'truncated-by-context': truncatedByContext,
  'truncated-by-deadline': truncatedByDeadline,
  'length-at-limit': lengthAtLimit,
  'entropy-collapse': entropyCollapse,
  'process-reward-alone': processRewardAlone,
  'all-right': allRight,
  'all-wrong': allWrong,
  'no-variance': noVariance,
  'learning-rate-too-low': learningRateTooLow,
  'constant-component': constantComponent,
};

/** Faults that a run has only if it learns from rewards. A student may learn from its teacher alone. */
const faultsOfRewards: ReadonlySet<string> = new Set<DiagnosisName>([
  'reward-without-outcome',
  'monitor-rises',
  'process-reward-alone',
  'all-right',
  'all-wrong',
  'no-variance',
  'constant-component',
]);

const site = 'https://toolenv.github.io/toolenv';

/**
 * What is wrong with a run, causes first; empty for a healthy run and for one that has too few steps to tell. Damaged records
 * count as absent.
 */
export function diagnose(records: RunRecords): Diagnosis[] {
  const run = new RunHistory(records);
  const learnsFromRewards = run.option('rewardCoefficient') !== 0;
  return Object.entries(diagnosisRules).flatMap(([name, { remedy, page, find }]) => {
    if (!learnsFromRewards && faultsOfRewards.has(name)) return [];
    const finding = find(run);
    const address = `${site}/${page.replace('.md', '.html')}`;
    return finding ? [{ name: name as DiagnosisName, ...finding, remedy, page: address }] : [];
  });
}

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
