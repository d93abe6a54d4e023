/**
 * `npm run demo`: a tiny transformer learns, on this machine, to answer questions by searching.
 *
 * The demo evaluates the policy on held-out questions, trains it with GRPO, and evaluates it again. It uses only public
 * functions. To use another environment, policy or trainer, change one line.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type EnvHandle, openEnv, type Policy, type Trajectory } from '@toolenv/core';
import { refuseLockedFolder, writeAtomic } from '@toolenv/core/files';
import type { QaRecord } from '@toolenv/envs-qa';
import { loadPolicy } from '@toolenv/policy';
import { grpo } from '@toolenv/trainer-grpo';
import {
  type Evaluation,
  evaluate,
  RunLog,
  readMetrics,
  refuseUsedFolder,
  train,
  trainingCurves,
} from '@toolenv/training';
import { svgChart } from '@toolenv/training/reports';
import {
  episodeText,
  Progress,
  parseFlags,
  RunningScores,
  runAsProcess,
  TrainingProgress,
  terminalChart,
  timeText,
} from 'toolenv';
import { type DemoFlags, demoFlags } from './demo-flags.ts';
import { recordRun } from './record.ts';
import { beta, environment, envOptions, training } from './setting.ts';
import { type Examination, summarise } from './summary.ts';

/** Adapters have far fewer parameters than the weights, so they need a higher learning rate to change the policy as much. */
const loraTraining = { learningRate: 3e-4 };

await runAsProcess(async (signal) => {
  const flags = await parseFlags(demoFlags, {
    name: 'demo',
    description: 'A tiny transformer learns to answer questions by searching.',
    argv: process.argv.slice(2),
  });
  if (flags) await demo(flags, signal);
});

async function demo(flags: DemoFlags, signal: AbortSignal): Promise<void> {
  const { seed, steps, heldOut, shuffleRewards, loraRank, out, json } = flags;
  const say = (text: string) => {
    if (!json) process.stdout.write(`${text}\n`);
  };
  const begun = performance.now();
  await clearEarlierDemo(out);
  await using env = await openEnv(environment, envOptions, { seed });
  const lora = loraRank > 0 ? { rank: loraRank, seed } : undefined;
  await using policy = await loadPolicy(flags.policy, { learner: { lora } });

  say(`A tiny transformer learns to answer questions by searching (${environment}, seed ${seed}).\n`);
  say(`Before training, on ${heldOut} held-out questions:`);
  const before = await examine(env, policy, { count: heldOut, seed, signal });
  say(scoresText(before));

  say(
    `\nTraining: ${steps} steps of ${training.tasksPerStep} questions with ${training.groupSize} episodes each.`,
  );
  if (shuffleRewards)
    say('Control experiment: rewards are permuted at random, so the policy should not improve.');
  const trainer = grpo({ ...training, beta, checkpointEvery: 20, ...(lora && loraTraining) });
  // trajectories.jsonl gets the held-out questions only.
  const run = { env, policy, trainer, out, seed, signal, trajectories: false };
  const progress = new TrainingProgress(steps);
  try {
    for await (const event of train({ ...run, steps, shuffleRewards })) progress.show(event);
  } finally {
    progress.stop();
  }

  say('\nAfter training, on the same questions:');
  const after = await examine(env, policy, { count: heldOut, seed, signal });
  say(scoresText(after));
  const log = new RunLog(out);
  await writeExamination(log, 0, before);
  await writeExamination(log, steps, after);

  const metrics = await readMetrics(out);
  const curves = trainingCurves(metrics);
  say(`\n${oneQuestion(before, after)}`);
  say(`\nDuring training, the mean over the episodes of each step:\n\n${terminalChart(curves)}`);
  const title = `GRPO on ${environment}, seed ${seed}${shuffleRewards ? ', shuffled rewards' : ''}`;
  const markers = [
    { name: 'held-out EM before', step: 0, value: before.greedy.means.em ?? 0 },
    { name: 'held-out EM after', step: steps, value: after.greedy.means.em ?? 0 },
  ];
  const chart = svgChart({ title, valueLabel: 'mean of a step', curves, markers });
  await writeAtomic(join(out, 'curves.svg'), chart);

  const seconds = (performance.now() - begun) / 1000;
  const summary = { ...summarise(before, after, metrics), steps, seconds, seed, shuffleRewards };
  await writeAtomic(join(out, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
  const { emBefore, emAfter, emBeforeSampled, emAfterSampled } = summary;
  if (flags.record !== undefined) await recordRun(flags.record, summary);
  say(
    `\nExact match (EM): ${percent(emBefore)} → ${percent(emAfter)} greedy, ` +
      `${percent(emBeforeSampled)} → ${percent(emAfterSampled)} sampled, in ${timeText(seconds)}.`,
  );
  say(`${out} contains summary.json, metrics.jsonl, trajectories.jsonl, curves.svg and the policy.`);
  say(`Look at it in the browser: npm run view -- ${out} --open`);
  if (json) process.stdout.write(`${JSON.stringify(summary)}\n`);
}

/** Answers the held-out questions, once greedily and once by sampling. */
async function examine(
  env: EnvHandle<unknown>,
  policy: Policy,
  run: { count: number; seed: number; signal: AbortSignal },
): Promise<Examination> {
  const answer = async (label: string, temperature: number): Promise<[Evaluation, Trajectory[]]> => {
    const bar = new Progress(label, Math.min(run.count, await env.tasks.test.length));
    const scores = new RunningScores();
    const episodes: Trajectory[] = [];
    const evaluation = await evaluate({
      ...run,
      env,
      policy,
      maxTokens: training.maxTokens,
      temperature,
      onTrajectory(trajectory) {
        episodes[trajectory.index] = trajectory;
        scores.add(trajectory);
        bar.update(scores.episodes, scores.status);
      },
    }).finally(bar.stop);
    return [evaluation, episodes];
  };
  const [greedy, greedyEpisodes] = await answer('greedy', 0);
  const [sampled, sampledEpisodes] = await answer('sampled', 1);
  return { greedy, greedyEpisodes, sampled, sampledEpisodes };
}

function scoresText({ greedy, sampled }: Examination): string {
  const line = (label: string, { means, toolCalls }: Evaluation) =>
    `  ${label}  EM ${(means.em ?? 0).toFixed(3)}  F1 ${(means.f1 ?? 0).toFixed(3)}  ${toolCalls.toFixed(1)} searches per question`;
  return `${line('greedy ', greedy)}\n${line('sampled', sampled)}`;
}

/** Both answers to a question that was answered wrongly before and is answered correctly now, if there is such a question. */
function oneQuestion(before: Examination, after: Examination): string {
  const isRight = ({ rewards }: Trajectory) => rewards.em === 1;
  const learned = before.greedyEpisodes.findIndex(
    (episode, index) => !isRight(episode) && isRight(after.greedyEpisodes[index]!),
  );
  const index = Math.max(learned, 0);
  const [then, now] = [before.greedyEpisodes[index]!, after.greedyEpisodes[index]!];
  const { answer } = then.task as QaRecord;
  return `A question with the answer ${answer}, before training:\n${episodeText(then)}\nand after training:\n${episodeText(now)}`;
}

async function writeExamination(log: RunLog, step: number, examination: Examination): Promise<void> {
  const { greedy, greedyEpisodes, sampled, sampledEpisodes } = examination;
  await log.writeEpisodes(greedyEpisodes, { step, temperature: 0 });
  await log.writeEpisodes(sampledEpisodes, { step, temperature: 1 });
  const metrics = {
    'heldout/em': greedy.means.em ?? 0,
    'heldout/f1': greedy.means.f1 ?? 0,
    'heldout_sampled/em': sampled.means.em ?? 0,
    'heldout_sampled/f1': sampled.means.f1 ?? 0,
  };
  await log.write({ type: 'evaluation', step, metrics });
}

/** Removes the files of an earlier demo, and refuses a folder that has others or in which a demo is at work. */
async function clearEarlierDemo(out: string): Promise<void> {
  await refuseLockedFolder(out);
  const written = [
    'config.json',
    'summary.json',
    'metrics.jsonl',
    'trajectories.jsonl',
    'curves.svg',
    'end.json',
    'policy',
    'checkpoints',
  ];
  for (const name of written) await rm(join(out, name), { recursive: true, force: true });
  await refuseUsedFolder(out, 'choose another folder');
}

function percent(fraction: number): string {
  return `${(100 * fraction).toFixed(1)} %`;
}
