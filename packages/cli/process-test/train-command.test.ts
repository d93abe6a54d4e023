/** `toolenv train` on several environments, and where its reader goes away. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readMetrics } from '@toolenv/training';
import { expect, it } from 'vitest';
import { fixture } from '../test/fixture.ts';
import { runCli } from '../test/run-cli.ts';
import { startCli } from '../test/start-cli.ts';

const small = 'fixture-plugin/lamp-v1?size=5';
const loop = ['--policy', fixture.policy, '--trainer', 'fixture-plugin/loop-v1'];

async function newRun(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'toolenv-train-')), 'run');
}

const configOf = async (out: string) => JSON.parse(await readFile(join(out, 'config.json'), 'utf8'));

it('mixes environments by weights, and evaluates on others', async () => {
  const out = await newRun();
  const envs = [
    fixture.env,
    small,
    '--weights',
    '1,3',
    '--size',
    '7',
    '--evaluate-on',
    'fixture-plugin/lamp-v1?size=3',
  ];
  const evaluation = ['--evaluate-first', '--evaluate-every', '2', '--evaluation-samples', '2'];
  const run = await runCli('train', ...envs, ...loop, ...evaluation, '--steps', '2', '--out', out);
  expect(run).toMatchObject({ code: 0 });
  expect(await configOf(out)).toMatchObject({
    env: `${fixture.env} + ${small}`,
    envOptions: {
      'lamp-v1': { size: 7 },
      'lamp-v1?size=5': { size: 5 },
      weights: { 'lamp-v1': 1, 'lamp-v1?size=5': 3 },
    },
  });
  const lines = (await readFile(join(out, 'trajectories.jsonl'), 'utf8')).trim().split('\n');
  const names = lines.map((line) => JSON.parse(line).task.env);
  expect(names.filter((name) => name === 'lamp-v1?size=5')).toHaveLength(6);
  expect(names).toHaveLength(8);
  const evaluations = (await readMetrics(out)).filter(({ type }) => type === 'evaluation');
  expect(evaluations.map(({ step }) => step)).toEqual([0, 2]);
  for (const { metrics } of evaluations) {
    for (const name of ['rewards/em/mean', 'lamp-v1?size=3/rewards/em/mean', 'pass@2', 'reward/ci_low'])
      expect(metrics[name], name).toBeGreaterThanOrEqual(0);
  }

  const other = [
    'train',
    fixture.env,
    small,
    ...loop,
    '--size',
    '7',
    '--out',
    out,
    '--resume',
    '--steps',
    '3',
  ];
  const refused = await runCli(...other, '--weights', '1,1');
  expect(refused.stderr).toContain('envOptions.weights {"lamp-v1":1,"lamp-v1?size=5":3} → ');
  expect(await runCli(...other, '--weights', '1,3')).toMatchObject({ code: 0 });
  expect((await readMetrics(out)).filter(({ type }) => type === 'update')).toHaveLength(3);
});

it('sets an option of the first environment in the others that have it', async () => {
  const out = await newRun();
  const envs = [fixture.env, 'fixture-plugin/lamp-v1?size=4', join(fixture.folder, 'env.ts'), '--size', '9'];
  expect(await runCli('train', ...envs, ...loop, '--steps', '1', '--out', out)).toMatchObject({ code: 0 });
  expect((await configOf(out)).envOptions).toMatchObject({
    'lamp-v1': { size: 9 },
    'lamp-v1?size=4': { size: 4 },
    'env.ts': { size: 9 },
  });
});

it('stops early, and says which policy is the best', async () => {
  const out = await newRun();
  const best = ['--best-metric', 'rewards/em/mean', '--evaluate-every', '1', '--patience', '2'];
  const args = ['train', fixture.env, ...loop, ...best, '--steps', '9', '--out', out];
  const run = await runCli(...args);
  expect(run.code).toBe(0);
  // Nothing is learned, so that the first evaluation stays the best.
  expect(run.stdout).toContain('3 steps done, and the run stopped early.');
  expect(run.stdout).toContain(`The policy of step 1, the best, is in ${join(out, 'policy')}`);
  const again = await runCli(...args, '--resume');
  expect(again.stdout).toContain('the run stopped early, after 3 steps; raise --patience to continue.');
});

it.each([
  [
    [fixture.env, small, '--weights', '1'],
    '--weights 1: give 2 numbers from 0 up, one for each environment.',
  ],
  [[fixture.env, small, '--weights', '1,x'], '--weights 1,x: give 2 numbers from 0 up'],
  [[fixture.env, fixture.env], 'fixture-plugin/lamp-v1 is named twice'],
  [[fixture.env, 'fixture-plugin/lamp-v1?sizes=5'], 'has no option "sizes". Did you mean "size"?'],
  [[fixture.env, 'fixture-plugin/lamp-v1?size=big'], 'size=big: give a whole number from 1 up.'],
  [[fixture.env, 'nobody/none-v1'], 'nobody/none-v1'],
  [[fixture.env, small, '--record', 'calls.jsonl'], '--record is for a single environment'],
  [[fixture.env, '--patience', '2'], 'option "patience": also give bestMetric, such as reward.'],
])('refuses %j in one line', async (args, message) => {
  const { code, stderr } = await runCli('train', ...args, ...loop, '--out', await newRun());
  expect(stderr).toContain(message);
  expect(code).toBe(2);
  expect(
    stderr
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('toolenv:')),
  ).toHaveLength(1);
});

it('survives a reader that goes away', async () => {
  const out = await newRun();
  const trainer = ['--policy', fixture.policy, '--trainer', fixture.trainer];
  const { child, finished } = startCli([
    'train',
    fixture.env,
    ...trainer,
    '--steps',
    '30',
    '--json',
    '--out',
    out,
  ]);
  child.stdout!.once('data', () => child.stdout!.destroy());
  expect((await finished).code).toBe(0);
  expect(existsSync(join(out, 'policy/config.json'))).toBe(true);
});
