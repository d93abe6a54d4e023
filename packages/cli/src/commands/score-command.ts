/** `toolenv score`: scores the episodes of a run again, under other rewards, and reports the differences. */
import { existsSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type OpenEnvSettings,
  type OpenedEnv,
  type RewardDeclarations,
  ToolEnvError,
  type Trajectory,
} from '@toolenv/core';
import { readJsonLines, withDiskErrors } from '@toolenv/core/files';
import { encodeTrajectory, readTrajectories, replayEnv } from '@toolenv/core/recording';
import { RescoredScores, rescore } from '@toolenv/training';
import { findRecordedRun, type RecordedRun } from '@toolenv/view/recorded';
import { plural } from '../display/number-text.ts';
import { Progress } from '../display/progress.ts';
import { rescoredTable } from '../display/rescored-table.ts';
import { safeLine } from '../display/terminal-text.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { environmentHelp, openSource, readTools } from '../run/open-run.ts';
import { findEnv } from '../subject/find-subject.ts';
import { importModule } from '../subject/import-module.ts';
import type { MakeCommand } from './commands.ts';

const schema = {
  type: 'object',
  properties: {
    concurrency: {
      type: 'integer',
      minimum: 1,
      default: 64,
      description: 'largest number of episodes that are played at once',
    },
  },
} as const;

interface OwnFlags extends Record<string, unknown> {
  rewards: string;
  env?: string;
  tool?: string[];
  replay?: string;
  out?: string;
  json?: boolean;
}

export const make: MakeCommand = (command, { signal }) => {
  command
    .description(
      'Scores the recorded episodes of a run again, under other rewards: each is played again with its own actions, without a model. Reports what changes, task by task.',
    )
    .argument('<run>', 'folder of a training run or an evaluation, or a file of trajectories')
    .requiredOption(
      '--rewards <file>',
      "module whose default export is the rewards by name, which are added to the environment's or replace them; or a function of the environment's rewards that returns all of them",
    )
    .option('--env <environment>', `${environmentHelp.split(';')[0]} (default: that of the run)`)
    .option('--tool <role=reference...>', 'use this tool plugin in a role (default: as in the run)')
    .option(
      '--replay <file>',
      "answer the calls of the environment's tools from what --record has written in the run",
    )
    .option('--out <file>', 'new file for the episodes with their new rewards')
    .option('--json', 'print one JSON object instead of the table');
  for (const flag of schemaFlags(schema)) command.addOption(flag);
  command.action(async (path: string, given: OwnFlags) => {
    const run = findRecordedRun(path);
    if (run.episodes === undefined) throw new ToolEnvError('usage.no_episode', `${path} kept no episodes.`);
    await using env = await openScored(run, await readRewards(given.rewards), given);
    const { concurrency } = completeFlags(schema, given);
    const scores = await scoreAll(run.episodes, env, { concurrency, out: given.out, signal });
    const summary = scores.summary();
    if (summary.episodes === 0) throw new ToolEnvError('usage.no_episode', `${path} has no episodes.`);
    const title = `${safeLine(path)}: ${plural(summary.episodes, 'episode')}, scored again by ${safeLine(given.rewards)}; differences with 95 % confidence intervals over tasks`;
    process.stdout.write(`${given.json ? JSON.stringify(summary) : `${title}\n${rescoredTable(summary)}`}\n`);
  });
};

/** @throws ToolEnvError `usage.bad_flag` for a module without rewards. */
async function readRewards(file: string): Promise<NonNullable<OpenEnvSettings['rewards']>> {
  const refuse = (problem: string) => new ToolEnvError('usage.bad_flag', `--rewards ${file}: ${problem}`);
  if (!existsSync(file)) throw refuse('there is no such file. Give the path of a module.');
  const { default: made } = await importModule(resolve(file));
  if (typeof made === 'function') return made as NonNullable<OpenEnvSettings['rewards']>;
  if (typeof made === 'object' && made !== null)
    return (declared) => ({ ...declared, ...(made as RewardDeclarations) });
  throw refuse('its default export must be the rewards by name, or a function that makes them.');
}

/** The environment of the run with the given rewards. */
async function openScored(
  { facts, episodes }: RecordedRun,
  rewards: NonNullable<OpenEnvSettings['rewards']>,
  { rewards: file, env: named, tool, replay }: OwnFlags,
): Promise<OpenedEnv<unknown>> {
  const name = named ?? facts.env ?? (await firstEpisode(episodes!)).env;
  const found = await findEnv(name);
  if (!found) {
    const message = `The run is of ${name}, which is no installed environment: give its module with --env.`;
    throw new ToolEnvError('usage.unknown_plugin', message);
  }
  const options = Object(facts.envOptions) as Record<string, unknown>;
  const recordedTools = Array.isArray(facts.tools) ? (facts.tools as string[]) : [];
  const settings: OpenEnvSettings = {
    ...{ seed: facts.seed ?? 1, rewards, tools: readTools(tool ?? recordedTools) },
    ...(facts.prompts !== undefined && { prompts: facts.prompts as Record<string, string> }),
    ...(replay !== undefined && { tap: await replayEnv(replay) }),
  };
  return openSource({ source: found.source, options }, settings).catch((error: unknown) => {
    // The rewards are not the environment's own.
    if (!ToolEnvError.isInstance(error) || error.code !== 'bug.environment') throw error;
    throw new ToolEnvError('usage.bad_flag', `--rewards ${file}: ${error.message}`, { cause: error });
  });
}

async function firstEpisode(file: string): Promise<Trajectory> {
  for await (const trajectory of readTrajectories(file)) return trajectory;
  throw new ToolEnvError('usage.no_episode', `${file} has no episodes.`);
}

async function scoreAll(
  file: string,
  env: OpenedEnv<unknown>,
  { concurrency, out, signal }: { concurrency: number; out: string | undefined; signal: AbortSignal },
): Promise<RescoredScores> {
  const scores = new RescoredScores();
  const total = await countLines(file);
  const target = out === undefined ? undefined : await newFile(out);
  const bar = new Progress('episodes', total, { isLate: true });
  let done = 0;
  try {
    const trajectories = readTrajectories(file);
    for await (const { recorded, rescored } of rescore({ env, trajectories, concurrency, signal })) {
      scores.add(recorded, rescored);
      if (target) await withDiskErrors(out!, () => target.appendFile(`${encodeTrajectory(rescored)}\n`));
      bar.update(++done, '');
    }
    return scores;
  } catch (error) {
    // Half of the episodes would look like all of them.
    if (target) await rm(out!, { force: true });
    throw error;
  } finally {
    bar.stop();
    await target?.close();
  }
}

async function countLines(file: string): Promise<number> {
  let count = 0;
  for await (const _ of readJsonLines(file)) count += 1;
  return count;
}

/** @throws ToolEnvError `usage.out_exists`. */
async function newFile(path: string): Promise<FileHandle> {
  if (existsSync(path))
    throw new ToolEnvError('usage.out_exists', `--out ${path} exists: give another file.`);
  return withDiskErrors(path, () => open(path, 'wx'));
}
