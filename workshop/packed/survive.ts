/** A run of an installed trainer that is killed, interrupted and resumed must end with the weights of an undisturbed run. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const steps = 4;

interface Disturbance {
  signal: 'SIGKILL' | 'SIGINT';
  /** The signal is sent as soon as the run has written this checkpoint. */
  after: number;
  /** Exit code of the disturbed run; `null` if it was killed. */
  code: number | null;
}

/**
 * @param folder A package that has `toolenv` installed.
 * @param args The environment and the trainer of the run.
 */
export async function checkSurvival(folder: string, args: readonly string[]): Promise<void> {
  const whole = await runToEnd(folder, 'runs/whole', args);
  for (const disturbance of [
    { signal: 'SIGKILL', after: 1, code: null },
    { signal: 'SIGINT', after: 2, code: 130 },
  ] as const) {
    const out = `runs/${disturbance.signal}`;
    await disturb(folder, out, args, disturbance);
    const weights = await runToEnd(folder, out, [...args, '--resume']);
    if (weights !== whole)
      throw new Error(`after ${disturbance.signal}, the resumed run ended with other weights`);
  }
}

/** The digest of the last checkpoint. Throws if the run has not evaluated as often as it should. */
async function runToEnd(folder: string, out: string, args: readonly string[]): Promise<string> {
  const code = await start(folder, out, args).ended;
  if (code !== 0) throw new Error(`toolenv train ${args.join(' ')} --out ${out}: exit code ${code}`);
  const metrics = await readFile(join(folder, out, 'metrics.jsonl'), 'utf8');
  const evaluations = metrics.match(/"type":"evaluation","step":\d+/g) ?? [];
  if (evaluations.length !== steps / 2) throw new Error(`expected ${steps / 2} evaluations in ${metrics}`);
  const checkpoint = join(folder, out, 'checkpoints', `step-${steps}`);
  const hash = createHash('sha256');
  const tensors = (await readdir(checkpoint)).filter((name) => name.endsWith('.safetensors')).sort();
  if (tensors.length < 2) throw new Error(`no weights and optimizer state in ${checkpoint}: ${tensors}`);
  for (const name of tensors) hash.update(await readFile(join(checkpoint, name)));
  return hash.digest('hex');
}

async function disturb(
  folder: string,
  out: string,
  args: readonly string[],
  { signal, after, code: expected }: Disturbance,
): Promise<void> {
  const { child, ended } = start(folder, out, args);
  const checkpoint = join(folder, out, 'checkpoints', `step-${after}`);
  while (child.exitCode === null && !existsSync(checkpoint)) await sleep(10);
  child.kill(signal);
  const code = await ended;
  if (code !== expected) throw new Error(`${signal} ended the run with exit code ${code}, not ${expected}`);
  if (existsSync(join(folder, out, 'checkpoints', `step-${steps}`)))
    throw new Error(`${signal} came too late`);
}

function start(folder: string, out: string, args: readonly string[]) {
  const main = join(folder, 'node_modules/toolenv/dist/main.js');
  const flags = {
    policy: 'checkpoint',
    steps,
    'tasks-per-step': 4,
    'max-tokens': 32,
    'learning-rate': 1e-3,
    'evaluate-every': 2,
    'evaluation-episodes': 2,
    'checkpoint-every': 1,
    out,
  };
  const own = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, [main, 'train', ...args, ...own], { cwd: folder, stdio: 'ignore' });
  return { child, ended: new Promise<number | null>((resolve) => child.once('exit', resolve)) };
}
