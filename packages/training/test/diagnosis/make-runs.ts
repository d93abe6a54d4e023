/**
 * Makes the runs of `recorded/`: the tiny policy trains with each fault of `run-setups.ts`, and without a fault.
 * `node --import tsx --conditions=@toolenv/source packages/training/test/diagnosis/make-runs.ts [name …]`: all runs, these, or with `todo` those
 * that are not recorded yet.
 * A run takes 10 to 60 seconds on two idle cores.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrainablePolicy } from '@toolenv/core/learner';
import { loadPlugin, type Trainer } from '@toolenv/core/plugins';
import { loadPolicy, type TransformerPolicy } from '@toolenv/policy';
import { train } from '@toolenv/training';
import { bridge, checkpoint, common, faults, healthy, type RunSetup } from './run-setups.ts';

const names = process.argv.slice(2);
const setups = [
  ...Object.entries(faults).map(([name, setup]) => [`faults/${name}`, setup] as const),
  ...Object.entries(healthy).map(([name, setup]) => [`healthy/${name}`, setup] as const),
];
const work = await mkdtemp(join(tmpdir(), 'diagnosis-runs-'));
/** The episodes that runs from data learn from. */
let episodes: string[] | undefined;
try {
  for (const [name, setup] of setups) {
    if (!isWanted(name)) continue;
    const begun = performance.now();
    await play(name, setup);
    console.log(`${name} ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  }
} finally {
  await rm(work, { recursive: true });
}

function isWanted(name: string): boolean {
  if (names.includes('todo')) return !existsSync(join(import.meta.dirname, 'recorded', name));
  return names.length === 0 || names.some((wanted) => name === wanted || name.endsWith(`/${wanted}`));
}

async function play(name: string, setup: RunSetup): Promise<void> {
  const out = join(work, name);
  const { seed = 1, trainer = 'trainer-grpo/grpo', options } = setup;
  let given: Record<string, unknown> = { ...common, ...options };
  if (setup.data) {
    const data = join(work, `${name.replace('/', '-')}.jsonl`);
    episodes ??= await collectEpisodes();
    await writeFile(data, setup.data(episodes));
    given = { ...options, data };
  } else if (trainer.startsWith('trainer-sft')) {
    const { klEvery: _, ...rest } = given;
    given = rest;
  }
  const env = setup.data ? undefined : await (setup.env ?? bridge)(seed);
  await using loaded = await loadPolicy((await setup.policy?.()) ?? checkpoint);
  const policy = sampledAt(loaded, setup.temperatureOfSampler);
  const plugin = (await loadPlugin('trainers', `@toolenv/${trainer}-v1`)) as Trainer;
  const run = { ...given, env, policy, trainer: plugin, out, seed, trajectories: false, checkpointEvery: 0 };
  for await (const { type, step } of train<Record<string, unknown>>(run))
    if (type === 'update') process.stderr.write(`${name} ${step}\r`);
  await env?.close();
  await keep(out, join(import.meta.dirname, 'recorded', name));
}

function sampledAt(policy: TransformerPolicy, temperature: number | undefined): TrainablePolicy {
  if (temperature === undefined) return policy;
  return {
    spec: policy.spec,
    learner: policy.learner,
    act: (observation, options) => policy.act(observation, { ...options, temperature }),
    endEpisode: (episodeId) => policy.endEpisode(episodeId),
  };
}

async function collectEpisodes(): Promise<string[]> {
  const out = join(work, 'episodes');
  const env = await bridge(1);
  await using policy = await loadPolicy(checkpoint);
  const run = { ...common, steps: 6, learningRate: 1e-4, env, policy, out, checkpointEvery: 0 };
  for await (const _ of train<Record<string, unknown>>(run));
  await env.close();
  return (await readFile(join(out, 'trajectories.jsonl'), 'utf8')).trim().split('\n');
}

/** Four digits, and no times, which differ from run to run. */
async function keep(out: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { trainer, trainerOptions, rewardSpec } = JSON.parse(
    await readFile(join(out, 'config.json'), 'utf8'),
  );
  delete trainerOptions.data;
  await writeFile(
    join(folder, 'config.json'),
    `${JSON.stringify({ trainer, trainerOptions, rewardSpec })}\n`,
  );
  const lines = (await readFile(join(out, 'metrics.jsonl'), 'utf8')).trim().split('\n');
  const kept = lines.map((line) =>
    JSON.stringify(JSON.parse(line), (key, value) => {
      if (/^(time\/|memory\/|step_time|tokens_per_second)/.test(key)) return undefined;
      return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
    }),
  );
  await writeFile(join(folder, 'metrics.jsonl'), `${kept.join('\n')}\n`);
}
