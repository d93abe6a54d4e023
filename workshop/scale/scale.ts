/**
 * `npm run scale`: a trainer and two workers, which are processes of their own, learn the demo's task. Workers are killed at random
 * moments. The exact match on held-out questions must become that of the demo, and no episode may be lost or learned from twice.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openEnv } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { evaluate, writeWhole } from '@toolenv/training';
import { parseFlags, runAsProcess, timeText } from 'toolenv';
import { environment, envOptions } from '../demo/setting.ts';
import { killedRun } from './killed-run.ts';

const schema = {
  type: 'object',
  properties: {
    seed: {
      type: 'integer',
      minimum: 0,
      default: 1,
      description: 'seeds the world, the questions and the kills',
    },
    steps: { type: 'integer', minimum: 1, default: 80, description: 'optimizer steps' },
    workers: { type: 'integer', minimum: 1, default: 2, description: 'worker processes' },
    kills: { type: 'integer', minimum: 0, default: 6, description: 'workers that are killed' },
    maxStaleness: {
      type: 'integer',
      minimum: 0,
      default: 1,
      description: 'updates that an episode may be behind',
    },
    out: {
      type: 'string',
      default: 'runs/scale',
      description: 'folder of the results; replaces those of an earlier run',
    },
    json: { type: 'boolean', default: false, description: 'print only the summary, as JSON' },
  },
} as const;

/** Questions that the demo holds out. */
const heldOut = { count: 256, maxTokens: 64 };

await runAsProcess(async (signal) => {
  const given = await parseFlags(schema, {
    name: 'scale',
    description: 'A trainer and killed workers learn the task of the demo.',
    argv: process.argv.slice(2),
  });
  if (!given) return;
  const { json, out, ...options } = given;
  const say = (text: string) => {
    if (!json) process.stdout.write(`${text}\n`);
  };
  await rm(out, { recursive: true, force: true });
  say(
    `A trainer and ${options.workers} workers: ${options.steps} steps, ${options.kills} kills, seed ${options.seed}.`,
  );
  const run = await killedRun({ ...options, out, say, signal });
  signal.throwIfAborted();
  const em = await examine(join(out, 'run', 'policy'), options.seed, signal);
  const summary = { ...options, ...run, em };
  await writeWhole(join(out, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
  const { kills, episodes, missing, duplicates, stale, oldest, seconds } = run;
  say(
    `${episodes} episodes learned from, ${missing} lost, ${duplicates} twice; ${stale} were too old and replaced, the oldest was ${oldest} updates behind.\n` +
      `Exact match ${em.toFixed(3)} on ${heldOut.count} held-out questions, after ${kills} kills and ${timeText(seconds)}.`,
  );
  if (json) process.stdout.write(`${JSON.stringify(summary)}\n`);
  if (missing > 0 || duplicates > 0 || run.codes.some((code) => code !== 0)) process.exitCode = 1;
});

async function examine(folder: string, seed: number, signal: AbortSignal): Promise<number> {
  await using env = await openEnv(environment, envOptions, { seed });
  await using policy = await loadPolicy(folder);
  const { means } = await evaluate({ env, policy, seed, signal, ...heldOut });
  return means.em ?? 0;
}
