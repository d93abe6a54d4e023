/**
 * `npm run interop -- trl`: measures how long GRPO takes to reach an exact match of 0.8 on bridge-v1, here and with TRL's
 * GRPOTrainer. Both have the same policy, environment, questions and setting, and run one after the other on this machine.
 * Prints one JSON line.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type EnvHandle, openEnv } from '@toolenv/core';
import { loadPolicy } from '@toolenv/policy';
import { evaluate } from '@toolenv/training';
import { processorTimes } from '../../bench/machine.ts';
import { beta, environment, envOptions, training } from '../../demo/setting.ts';
import { scratchFolder } from '../../scratch-folder.ts';
import { movingMean, type StepReport, stepOfGoal } from './learning-curve.ts';
import { trainOurs } from './ours.ts';
import { checkpoint, goal, type Setting, type SideOptions } from './side.ts';
import { trainTheirs } from './theirs.ts';

class MachineTime {
  readonly #begun: number = performance.now();
  readonly #busyBefore: number = processorTimes().busy;

  /** Share of all cores that was busy since the constructor, without the `own` seconds of processor time. */
  othersShare(own: number): number {
    const milliseconds = performance.now() - this.#begun;
    const others = processorTimes().busy - this.#busyBefore - 1000 * own;
    return Math.max(0, others) / (milliseconds * cpus().length);
  }
}

/**
 * @param argv `--max-steps` and `--minutes` limit each side; `--learning-rate` (default: the demo's); `--seed`;
 *   `--rows-at-a-time` in TRL's passes.
 */
export async function compareWithTrl(python: string, argv: string[]): Promise<void> {
  const { seed, maxSteps, minutes, learningRate, rowsAtATime } = readOptions(argv);
  // Check now, because our side takes minutes.
  const found = spawnSync(python, ['-c', 'import trl, datasets'], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (found.status !== 0)
    throw new Error(`${python} has no TRL: install workshop/interop/requirements.txt for it.`);
  const setting: Setting = { ...training, beta, learningRate };
  const threads = availableParallelism();
  await using env = await openEnv(environment, envOptions, { seed });
  await using scratch = await scratchFolder();

  const measure = async <T>(name: string, train: (side: SideOptions) => Promise<T>) => {
    const out = join(scratch.path, name);
    const steps: StepReport[] = [];
    const machine = new MachineTime();
    const result = await train({
      setting,
      out,
      seed,
      threads,
      maxSteps,
      onStep(report) {
        steps.push(report);
        show(name, steps);
        return report.seconds > 60 * minutes || stepOfGoal(steps, goal) !== undefined;
      },
    });
    const otherWork = machine.othersShare(steps.at(-1)!.cpuSeconds);
    return { ...summary(steps), otherWork: round(otherWork, 2), ...result, heldOut: await examine(env, out) };
  };
  const before = await examine(env, checkpoint);
  const ours = await measure('toolenv', (side) => trainOurs(env, side));
  const theirs = await measure('trl', (side) => trainTheirs(env, { ...side, python, rowsAtATime }));
  console.log(
    JSON.stringify({
      name: 'trl',
      ours,
      trl: theirs,
      ratio: ratio(ours, theirs),
      before,
      goal,
      setting: { environment, envOptions, ...setting, seed, rowsAtATime },
      threads,
      processor: cpus()[0]?.model,
      node: process.version,
    }),
  );
}

interface Options {
  seed: number;
  maxSteps: number;
  minutes: number;
  learningRate: number;
  rowsAtATime: number;
}

function readOptions(args: string[]): Options {
  const defaults = {
    seed: 1,
    'max-steps': 400,
    minutes: 40,
    'learning-rate': training.learningRate,
    'rows-at-a-time': training.tasksPerStep * training.groupSize,
  };
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      { type: 'string', default: String(value) } as const,
    ]),
  );
  const { values } = parseArgs({ args, options });
  const number = (name: keyof typeof defaults) => {
    const value = Number(values[name]);
    if (value > 0) return value;
    throw new Error(`--${name} is "${values[name]}": give a number above 0.`);
  };
  return {
    seed: number('seed'),
    maxSteps: number('max-steps'),
    minutes: number('minutes'),
    learningRate: number('learning-rate'),
    rowsAtATime: number('rows-at-a-time'),
  };
}

interface Summary {
  reached: boolean;
  /** Until the goal was reached, or until training stopped without reaching it. */
  seconds: number;
  cpuSeconds: number;
  steps: number;
  secondsPerStep: { mean: number; rollout: number; update: number };
  /** Tokens that the policy generated, per second of the whole training and of the rollouts. */
  tokensPerSecond: { training: number; rollout: number };
  /** Values of each step. */
  curve: { em: number[]; seconds: number[] };
}

function summary(steps: readonly StepReport[]): Summary {
  const { seconds, cpuSeconds } = steps.at(-1)!;
  const sum = (of: (report: StepReport) => number) => steps.reduce((total, report) => total + of(report), 0);
  const rollouts = sum(({ rolloutSeconds }) => rolloutSeconds);
  const tokens = sum(({ generatedTokens }) => generatedTokens);
  return {
    reached: stepOfGoal(steps, goal) !== undefined,
    seconds: round(seconds, 1),
    cpuSeconds: round(cpuSeconds, 1),
    steps: steps.length,
    secondsPerStep: {
      mean: round(seconds / steps.length, 2),
      rollout: round(rollouts / steps.length, 2),
      update: round((seconds - rollouts) / steps.length, 2),
    },
    tokensPerSecond: { training: Math.round(tokens / seconds), rollout: Math.round(tokens / rollouts) },
    curve: { em: steps.map(({ em }) => round(em, 3)), seconds: steps.map((step) => round(step.seconds, 1)) },
  };
}

/** TRL's times divided by ours, to the goal (a lower bound if TRL did not reach it) and per step. */
function ratio(ours: Summary, trl: Summary): Record<string, number | boolean | null> {
  return {
    seconds: ours.reached ? round(trl.seconds / ours.seconds, 2) : null,
    isLowerBound: ours.reached && !trl.reached,
    cpuSeconds: ours.reached ? round(trl.cpuSeconds / ours.cpuSeconds, 2) : null,
    secondsPerStep: round(trl.secondsPerStep.mean / ours.secondsPerStep.mean, 2),
  };
}

/** Exact match on held-out questions, greedy and sampled. */
async function examine(
  env: EnvHandle<unknown>,
  folder: string,
): Promise<{ greedy: number; sampled: number }> {
  await using policy = await loadPolicy(folder);
  const emAt = async (temperature: number) => {
    const { means } = await evaluate({ env, policy, count: 256, maxTokens: training.maxTokens, temperature });
    return round(means.em ?? 0, 3);
  };
  return { greedy: await emAt(0), sampled: await emAt(1) };
}

function show(name: string, steps: readonly StepReport[]): void {
  const { step, seconds, cpuSeconds, em } = steps.at(-1)!;
  const recent = movingMean(steps, steps.length - 1, goal.window);
  const times = `${seconds.toFixed(1)} s  processor ${cpuSeconds.toFixed(1)} s`;
  console.error(`${name}  step ${step}  ${times}  EM ${em.toFixed(3)}  recently ${recent.toFixed(3)}`);
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
