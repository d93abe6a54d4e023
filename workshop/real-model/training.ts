/** Supervised training on the oracle's episodes, GRPO that is killed and resumed, and what they write. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ParseFailure, ToolCall, ToolDescription, Trajectory } from '@toolenv/core';
import { validate } from '@toolenv/core/schemas';
import { loadPolicy } from '@toolenv/policy';
import { askTransformers } from '../interop/transformers-view.ts';
import { runCli, startCli } from './cli.ts';
import { work } from './model-folder.ts';
import { conversationOf, greedyTokens, newTokens } from './parity.ts';
import { questions } from './prompts.ts';
import type { Report } from './report.ts';

export const environment = '@toolenv/envs-classic/arithmetic-v1';

/** Episodes of a step. Fewer show as well that a step learns. */
interface Size {
  demonstrations: number;
  tasks: number;
  group: number;
}
export const usual: Size = { demonstrations: 8, tasks: 4, group: 4 };
export const small: Size = { demonstrations: 2, tasks: 2, group: 2 };

const lora = ['--lora-rank', '16'];
/** Least share of calls that name the tool and fit its schema. */
const wellFormed = 0.95;

interface Update {
  step: number;
  metrics: Record<string, number>;
}

/** Demonstrations, and supervised steps on them. @returns The folder of the trained policy. */
export async function trainOnDemonstrations(
  folder: string,
  steps: number,
  { demonstrations: batchSize }: Size,
  report: Report,
): Promise<string> {
  const demonstrations = await fresh('demonstrations');
  const out = await fresh('sft');
  await runCli(
    ...[
      'rollout',
      environment,
      '--policy',
      'oracle',
      '--count',
      String(steps * batchSize),
      '--out',
      demonstrations,
    ],
  );
  const data = join(demonstrations, 'trajectories.jsonl');
  const { seconds } = await runCli(
    ...['train', '--trainer', '@toolenv/trainer-sft/sft-v1', '--data', data, '--policy', folder, ...lora],
    ...['--learning-rate', '5e-4', '--batch-size', String(batchSize), '--out', out],
  );
  const updates = await updatesOf(out);
  const losses = updates.map(({ metrics }) => metrics.loss!);
  const [first, last] = [losses[0]!, losses.at(-1)!];
  const tokens = updates.reduce((sum, { metrics }) => sum + metrics.learned_tokens!, 0);
  const stepTime = updates.reduce((sum, { metrics }) => sum + metrics.step_time!, 0) / updates.length;
  report.check(
    updates.length === steps && last < first,
    `${steps} supervised steps`,
    `loss ${first.toFixed(2)} to ${last.toFixed(2)}, ${tokens} tokens learned, ${stepTime.toFixed(1)} s a step, ${seconds.toFixed(0)} s`,
  );
  return join(out, 'policy');
}

/** The trained policy's calls on held-out problems. A call with a sum that the calculator refuses is well-formed. */
export async function checkCalls(policy: string, count: number, report: Report): Promise<void> {
  const out = await fresh('eval');
  const size = ['--count', String(count), '--max-tokens', '96'];
  const { stdout, seconds } = await runCli(
    ...['eval', environment, '--policy', policy, ...size, '--out', out, '--json'],
  );
  const summary = JSON.parse(stdout);
  const lines = (await readFile(join(out, 'trajectories.jsonl'), 'utf8')).trim().split('\n');
  const episodes = lines.map((line) => (JSON.parse(line) as Pick<Trajectory, 'steps'>).steps);
  const calls = episodes.flatMap((steps) =>
    steps.flatMap(({ observation, calls }) => calls.map(({ call }) => fits(call, observation.tools))),
  );
  const calling = episodes.filter((steps) => steps.some(({ calls }) => calls.length > 0)).length;
  const formed = calls.filter(Boolean).length;
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  report.check(
    formed >= wellFormed * calls.length && calling >= wellFormed * count,
    'calls on held-out problems',
    `${formed} of ${calls.length} well-formed, in ${calling} of ${count} episodes; ` +
      `${percent(summary.means.correct)} correct, ${summary.tokens} tokens, ${seconds.toFixed(0)} s`,
  );
}

function fits(call: ToolCall | ParseFailure, tools: readonly ToolDescription[]): boolean {
  if (!('arguments' in call)) return false;
  const tool = tools.find(({ name }) => name === call.name);
  return tool !== undefined && validate(tool.inputSchema, call.arguments).length === 0;
}

/** GRPO in few small steps. Groups may score alike, so that only the KL penalty has a gradient. @returns The folder of the run. */
async function grpoRun(
  policy: string,
  name: string,
  steps: number,
  { tasks, group }: Size,
): Promise<{ out: string; words: string[] }> {
  const out = await fresh(name);
  const episodes = ['--tasks-per-step', String(tasks), '--group-size', String(group)];
  const size = [...episodes, '--max-tokens', '64', '--evaluate-every', '0'];
  const words = [
    'train',
    environment,
    '--policy',
    policy,
    ...lora,
    '--learning-rate',
    '1e-4',
    '--beta',
    '0.05',
    ...size,
  ];
  return { out, words: [...words, '--checkpoint-every', '1', '--steps', String(steps), '--out', out] };
}

export async function checkGrpoStep(policy: string, size: Size, report: Report): Promise<void> {
  const { out, words } = await grpoRun(policy, 'grpo', 1, size);
  const { seconds } = await runCli(...words);
  const [update] = await updatesOf(out);
  report.check(Number.isFinite(update?.metrics.grad_norm), 'a step of GRPO', `${seconds.toFixed(0)} s`);
}

/** Three steps at once, and three of which the last is made by a second process after the first was killed. */
export async function checkResume(policy: string, report: Report): Promise<void> {
  const whole = await grpoRun(policy, 'grpo', 3, usual);
  const { seconds } = await runCli(...whole.words);
  const broken = await grpoRun(policy, 'grpo-killed', 3, usual);
  const { child, finished } = startCli(...broken.words);
  const ended = finished.then(
    () => false,
    () => true,
  );
  while (!existsSync(join(broken.out, 'checkpoints/step-2')) && child.exitCode === null) await sleep(50);
  child.kill('SIGKILL');
  const wasKilled = await ended;
  await runCli(...broken.words, '--resume');
  const norms = (await updatesOf(whole.out)).map(({ metrics }) => metrics.grad_norm!.toFixed(3));
  report.check(
    norms.length === 3,
    'three steps of GRPO',
    `${seconds.toFixed(0)} s, norms of the gradients ${norms.join(', ')}`,
  );
  const weights = await Promise.all(
    [whole, broken].map(({ out }) => digest(join(out, 'policy/model.safetensors'))),
  );
  const losses = await Promise.all([whole, broken].map(async ({ out }) => lossesOf(await updatesOf(out))));
  report.check(
    wasKilled && weights[0] === weights[1] && isDeepStrictEqual(losses[0], losses[1]),
    'killed after two steps, and resumed',
    `the weights are ${weights[0] === weights[1] ? 'equal bit for bit' : 'not those of the whole run'}`,
  );
}

/** To transformers, the merged folder is the trained policy, and so is its adapter on the model that training began with. */
export async function checkExport(
  trained: string,
  base: string,
  python: string,
  report: Report,
): Promise<void> {
  const asked = questions.slice(0, 4);
  const request = {
    sequences: [],
    texts: [],
    conversations: asked.map(conversationOf),
    new_tokens: newTokens,
  };
  await using policy = await loadPolicy(trained);
  const ours = await greedyTokens(policy, asked);
  for (const [name, opened] of [
    ['the trained folder in transformers', { folder: trained }],
    ['its adapter on the model, in peft', { folder: trained, base }],
  ] as const) {
    const { greedy } = await askTransformers(python, { ...request, ...opened });
    const equal = ours.filter((tokens, index) => isDeepStrictEqual(tokens, greedy![index])).length;
    report.check(equal === asked.length, name, `${equal} of ${asked.length} answers equal`);
  }
}

async function fresh(name: string): Promise<string> {
  const folder = join(work, name);
  await rm(folder, { recursive: true, force: true });
  return folder;
}

async function updatesOf(out: string): Promise<Update[]> {
  const lines = (await readFile(join(out, 'metrics.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'update');
}

/** What a step computed, without its times. */
function lossesOf(updates: readonly Update[]): (number | undefined)[][] {
  return updates.map(({ metrics }) => [metrics.loss, metrics.grad_norm]);
}

async function digest(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
