/** The README's command on the tiny policy: it trains, says what the README says, and resumes bit by bit. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { metricNames } from '@toolenv/training';
import { expect, test } from 'vitest';
import { runCliIn } from '../../cli/test/run-cli.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8');

async function toolenv(args: string[]): Promise<string> {
  const { code, stdout } = await runCliIn(root, ...args);
  expect(code).toBe(0);
  return stdout;
}

/** On a small scale. Of flags that are given twice the last counts. */
function train(out: string, ...more: string[]): Promise<string> {
  const command = /^npx toolenv (train .*)$/m.exec(readme)![1]!.split(' ');
  const small = [
    '--tasks-per-step',
    '6',
    '--max-tokens',
    '32',
    '--critic-warmup',
    '1',
    '--mini-batches',
    '2',
  ];
  const kl = ['--kl-control', 'adaptive', '--kl-target', '1e-6', '--learning-rate', '1e-3'];
  return toolenv([...command, ...small, ...kl, '--checkpoint-every', '1', '--out', out, ...more, '--json']);
}

async function weights(out: string): Promise<Record<string, Buffer>> {
  const folder = join(out, 'checkpoints', 'step-3');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.safetensors'));
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)),
  );
}

test('the README’s command trains with known metrics, and a resumed run equals an uninterrupted run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ppo-cli-'));
  try {
    const [whole, parts] = [join(folder, 'whole'), join(folder, 'parts')];
    const events = (await train(whole, '--steps', '3')).trim().split('\n');
    const updates = events.map((line) => JSON.parse(line)).filter(({ type }) => type === 'update');
    expect(updates.map(({ step }) => step)).toEqual([1, 2, 3]);
    expect(Object.keys(updates[1].metrics).filter((name) => !Object.hasOwn(metricNames, name))).toEqual([]);
    const ofPolicy = ['loss', 'entropy', 'actor/ppo_kl', 'grad_norm', 'clip_ratio/region_mean'];
    for (const name of [...ofPolicy, 'actor/pg_clipfrac_lower']) {
      expect(updates[0].metrics).not.toHaveProperty([name]);
      expect(updates[1].metrics).toHaveProperty([name]);
    }
    for (const { metrics } of updates) expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
    expect(updates[2].metrics['actor/reward_kl_penalty_coeff']).not.toBe(1e-3);
    expect(await readdir(join(whole, 'policy'))).not.toContain('critic.safetensors');

    await train(parts, '--steps', '2');
    await train(parts, '--steps', '3', '--resume');
    const [expected, found] = [await weights(whole), await weights(parts)];
    expect(Object.keys(expected).sort()).toEqual([
      'critic.safetensors',
      'model.safetensors',
      'optimizer.safetensors',
    ]);
    for (const [name, bytes] of Object.entries(expected)) expect(found[name]!.equals(bytes), name).toBe(true);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('help says that removing the masks is for ablations only', async () => {
  const help = await toolenv(['train', '--trainer', '@toolenv/trainer-ppo/ppo-v1', '--help', '--all']);
  const text = help.replaceAll(/\s+/g, ' ');
  expect(text).toContain('--no-action-mask for ablations only');
  expect(text).toContain('--no-advantage-mask for ablations only');
  expect(text).toContain('--critic <shared|separate>');
  for (const [, flag] of readme.matchAll(/`(--[a-z-]+)/g)) expect(text).toContain(flag);
});
