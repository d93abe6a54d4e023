/** `toolenv eval`: plays the first tasks of a split with a policy and reports the scores. */
import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeTrajectory } from '@toolenv/core/recording';
import { evaluate } from '@toolenv/training';
import { Command } from 'commander';
import { evaluationTable } from '../display/evaluation-table.ts';
import { Progress } from '../display/progress.ts';
import { RunningScores } from '../display/running-scores.ts';
import { addEnvFlags, envOptions, type NamedEnv } from '../flags/env-flags.ts';
import { addPluginFlags, type NamedPlugin, pluginOptions } from '../flags/plugin-flags.ts';
import { completeFlags, schemaFlags } from '../flags/schema-flags.ts';
import { type EnvFlags, envFlags, openRun, type RecordingFlags, recordingFlags } from '../run/open-run.ts';
import { refuseUsedFolder, writeWhole } from '../run/run-folder.ts';

interface OwnFlags extends EnvFlags, RecordingFlags {
  policy: string;
  out?: string;
  json?: boolean;
}

const schema = {
  type: 'object',
  properties: {
    split: { enum: ['train', 'validation', 'test'], default: 'test', description: 'tasks to play' },
    count: { type: 'integer', minimum: 1, default: 200, description: 'episodes, one of each task' },
    concurrency: { type: 'integer', minimum: 1, default: 128, description: 'episodes at a time' },
    temperature: { type: 'number', minimum: 0, default: 0, description: 'of sampling; 0 is greedy' },
    topP: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1,
      default: 1,
      description: 'sample among the likeliest tokens with this share of the probability',
    },
    topK: { type: 'integer', minimum: 1, description: 'sample among this many likeliest tokens' },
    minP: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 0,
      description:
        "sample among tokens at least this probable, as a share of the likeliest one's probability",
    },
    maxTokens: { type: 'integer', minimum: 1, default: 256, description: 'tokens of one turn at most' },
    deadline: {
      type: 'integer',
      minimum: 1,
      default: 600_000,
      description: 'milliseconds of one episode at most',
    },
    seed: { type: 'integer', minimum: 0, default: 1, description: 'of the environment and of sampling' },
  },
} as const;

/** The plugins that a command line names. */
interface Plugins {
  env: NamedEnv;
  policy: NamedPlugin<'policies'>;
}

export function evalCommand(signal: AbortSignal, plugins: Plugins): Command {
  const command = new Command('eval')
    .summary('score a policy in an environment')
    .description('Plays the first tasks of a split with a policy and reports the scores.')
    .argument('<environment>', 'reference, as @toolenv/envs-qa/bridge-v1; its options are flags')
    .requiredOption(
      '--policy <folder>',
      'Hugging Face folder, or reference of a policy; its options are flags',
    )
    .option('--out <folder>', 'write trajectories.jsonl and summary.json there')
    .option('--json', 'print one JSON object instead of the table');
  for (const flag of [...envFlags(), ...recordingFlags(), ...schemaFlags(schema)]) command.addOption(flag);
  addEnvFlags(command, plugins.env);
  addPluginFlags(command, [plugins.policy]);
  return command.action((ref: string, given: OwnFlags & Record<string, unknown>) =>
    evalPolicy(ref, given, plugins, signal),
  );
}

async function evalPolicy(
  ref: string,
  given: OwnFlags & Record<string, unknown>,
  named: Plugins,
  signal: AbortSignal,
): Promise<void> {
  const flags = completeFlags(schema, given);
  const { split, count, concurrency, deadline, seed, ...sampling } = flags;
  const { out } = given;
  const chosen = pluginOptions(named.policy, given);
  const options = envOptions(named.env, given);
  if (out !== undefined) await refuseUsedFolder(out, 'choose another folder');
  const { env, handle, finish, close } = await openRun({ ref, options }, chosen, { ...given, seed });
  if (out !== undefined) await mkdir(out, { recursive: true });

  const bar = new Progress('episodes', Math.min(count, env.tasks[split].length));
  const scores = new RunningScores();
  const evaluation = await evaluate({
    env,
    policy: handle.policy,
    split,
    count,
    concurrency,
    sampling,
    deadline,
    seed,
    signal,
    async onTrajectory(trajectory) {
      scores.add(trajectory);
      bar.update(scores.episodes, scores.status);
      if (out !== undefined)
        await appendFile(join(out, 'trajectories.jsonl'), `${encodeTrajectory(trajectory)}\n`);
    },
  }).finally(async () => {
    bar.stop();
    await close();
  });
  await finish();

  const run = {
    env: ref,
    envVersion: env.packageVersion,
    envOptions: options,
    policy: given.policy,
    policyOptions: chosen.options,
  };
  const summary = JSON.stringify({ ...run, ...flags, ...evaluation }, null, given.json ? undefined : 2);
  if (out !== undefined) await writeWhole(join(out, 'summary.json'), `${summary}\n`);
  const manner = sampling.temperature === 0 ? 'greedy' : `temperature ${sampling.temperature}`;
  const title = `${ref}, ${split}, ${manner}, seed ${seed}`;
  process.stdout.write(given.json ? `${summary}\n` : `${title}\n${evaluationTable(evaluation)}\n`);
}
