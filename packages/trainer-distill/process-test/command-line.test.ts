/** The README's command on the tiny policy: it distils with known metrics, resumes bit by bit after SIGKILL, and helps. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { metricNames } from '@toolenv/training';
import { expect, test } from 'vitest';
import { runCliIn } from '../../cli/test/run-cli.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');
const tiny = 'packages/checkpoints/tiny';

/** The command of the README on a small scale, with a teacher that is the student: the rewards have something to teach. */
function wordsOf(out: string): string[] {
  const command = /^npx toolenv (train .*--trainer distill .*)$/m.exec(readme)![1]!;
  const named = command
    .replace('node_modules/@toolenv/checkpoints/tiny', tiny)
    .replace('runs/first/policy', tiny)
    .split(' ');
  const small = ['--tasks-per-step', '2', '--max-tokens', '48', '--learning-rate', '1e-3', '--steps', '3'];
  return [...named, ...small, '--reward-coefficient', '1', '--checkpoint-every', '1', '--out', out, '--json'];
}

async function weights(out: string): Promise<Record<string, Buffer>> {
  const folder = join(out, 'checkpoints', 'step-3');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.safetensors'));
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}

test('the README’s command distils with known metrics, and a killed run resumes to the same bits', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'distill-cli-'));
  try {
    const [whole, killed] = [join(folder, 'whole'), join(folder, 'killed')];
    const { code, stdout } = await runCliIn(root, ...wordsOf(whole));
    expect(code).toBe(0);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const updates = events.filter(({ type }) => type === 'update');
    expect(updates.map(({ step }) => step)).toEqual([1, 2, 3]);
    for (const { metrics } of updates) {
      expect(Object.keys(metrics).filter((name) => !Object.hasOwn(metricNames, name))).toEqual([]);
      expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
    }
    // Both compute the same, in other batches.
    expect(Math.abs(updates[0].metrics['teacher/reverse_kl'])).toBeLessThan(1e-5);
    expect(updates[0].metrics['teacher/agreement']).toBeGreaterThan(1 - 1e-4);
    expect(updates[2].metrics['teacher/agreement']).toBeLessThan(1 - 1e-4);

    const main = join(root, 'packages/cli/src/main.ts');
    const node = ['--import', 'tsx', '--conditions=@toolenv/source', main];
    const child = spawn(process.execPath, [...node, ...wordsOf(killed)], { cwd: root, stdio: 'ignore' });
    const exited = once(child, 'exit');
    while (!existsSync(join(killed, 'checkpoints', 'step-1')) && child.exitCode === null) await sleep(20);
    child.kill('SIGKILL');
    await exited;
    expect((await runCliIn(root, ...wordsOf(killed), '--resume')).code).toBe(0);
    const [expected, found] = [await weights(whole), await weights(killed)];
    expect(Object.keys(expected).sort()).toEqual(['model.safetensors', 'optimizer.safetensors']);
    for (const [name, bytes] of Object.entries(expected)) expect(found[name]!.equals(bytes), name).toBe(true);
  } finally {
    await rm(folder, { recursive: true });
  }
}, 300_000);

test('help has every flag of the README, and a run without a teacher says what it needs', async () => {
  const trainer = ['--trainer', '@toolenv/trainer-distill/distill-v1'];
  const help = (await runCliIn(root, 'train', ...trainer, '--help', '--all')).stdout.replaceAll(/\s+/g, ' ');
  for (const [, flag] of readme.matchAll(/`(--[a-z-]+)/g)) expect(help).toContain(flag);
  const without = ['train', '@toolenv/envs-qa/bridge-v1', ...trainer, '--policy', tiny];
  const { code, stderr } = await runCliIn(root, ...without, '--out', join(tmpdir(), 'distill-without'));
  expect(code).not.toBe(0);
  expect(stderr).toContain('teacher');
});
