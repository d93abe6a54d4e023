/** A run that Ctrl-C stopped and --resume finished has the metrics and episodes of one that ran through. */
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withoutTimes } from '../../training/test/timeless.ts';
import { fixture } from '../test/fixture.ts';
import { runCli } from '../test/run-cli.ts';
import { startCli } from '../test/start-cli.ts';

const steps = 12;

function args(out: string, ...more: string[]): string[] {
  const what = [fixture.env, '--policy', fixture.policy, '--trainer', fixture.trainer];
  return ['train', ...what, '--out', out, '--steps', String(steps), '--checkpoint-every', '5', ...more];
}

/** The lines of a file without how long things took. */
async function linesOf(file: string): Promise<string[]> {
  const content = await readFile(file, 'utf8');
  return content.trimEnd().split('\n').map(withoutTimes);
}

it('saves a checkpoint on SIGINT, exits 130 and goes on where it stopped', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-resume-'));
  const [through, stopped] = [join(folder, 'through'), join(folder, 'stopped')];
  const whole = startCli(args(through)).finished;

  const { child, finished } = startCli(args(stopped, '--wait-at-step', '7', '--json', '--tensorboard'));
  child.stdout!.on('data', (text: string) => {
    // Step 7 waits after its rollout: its lines are written, its update is not done.
    if (text.includes('"type":"rollout","step":7')) child.kill('SIGINT');
  });
  const { code, stderr } = await finished;
  expect(stderr).toMatch(/Stopped; 6 steps are kept: continue with\n {2}toolenv train .+ --resume\b/);
  expect(code).toBe(130);
  expect(await readdir(join(stopped, 'checkpoints'))).toContain('step-6');
  expect(await linesOf(join(stopped, 'metrics.jsonl'))).toHaveLength(13);

  expect((await whole).code).toBe(0);
  const resumed = await runCli(...args(stopped, '--resume', '--tensorboard', '--wait-at-step', '0'));
  expect(resumed.code).toBe(0);
  for (const file of ['metrics.jsonl', 'trajectories.jsonl']) {
    expect(await linesOf(join(stopped, file))).toEqual(await linesOf(join(through, file)));
  }
  expect(await linesOf(join(stopped, 'metrics.jsonl'))).toHaveLength(2 * steps);
  expect(await readdir(join(stopped, 'tensorboard'))).toHaveLength(2);
  expect(await readdir(join(stopped, 'policy'))).toEqual(['config.json']);

  expect(await readFile(join(stopped, 'curves.svg'), 'utf8')).toContain('seed 1</title>');
  expect(JSON.parse(await readFile(join(stopped, 'config.json'), 'utf8'))).toMatchObject({
    env: fixture.env,
    envVersion: '1.2.3',
    envOptions: { size: 30 },
    policy: fixture.policy,
    policyOptions: { weight: 0.3 },
    trainer: fixture.trainer,
    trainerOptions: { steps, checkpointEvery: 5 },
    node: process.version,
    packages: { 'fixture-plugin': '1.2.3' },
  });

  const other = await runCli(...args(stopped, '--resume', '--seed', '2'));
  expect(other).toMatchObject({ code: 2, stdout: '' });
  expect(other.stderr).toMatch(/^toolenv: The run in .* differs: seed 1 → 2\. .*\n$/);
  const larger = await runCli(...args(stopped, '--resume', '--env-option', 'size=31'));
  expect(larger.stderr).toMatch(/^toolenv: The run in .* differs: envOptions\.size 30 → 31\. .*\n$/);
});

it('goes on with other options only with --change, and shows what changed', async () => {
  const out = join(await mkdtemp(join(tmpdir(), 'toolenv-change-')), 'run');
  expect((await runCli(...args(out, '--clip', '0.2,0.4'))).code).toBe(0);
  const other = ['--resume', '--steps', '14', '--average', 'sequence', '--clip', '0.2,0.3'];
  const refused = await runCli(...args(out, ...other));
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(
    /^toolenv: The run in .* differs: trainerOptions\.average "token" → "sequence", trainerOptions\.clip \[0\.2,0\.4\] → \[0\.2,0\.3\]\. Give .* with --change .*\n$/,
  );
  expect((await runCli(...args(out, ...other, '--change'))).code).toBe(0);
  const { stdout } = await runCli('show', out, '--count', '0');
  expect(stdout).toMatch(
    /from step 13 +trainerOptions\.average "token" → "sequence", trainerOptions\.clip \[0\.2,0\.4\] → \[0\.2,0\.3\], trainerOptions\.steps 12 → 14\n/,
  );
});

it('a killed run leaves no lock that counts; a live run refuses a second one', async () => {
  const out = join(await mkdtemp(join(tmpdir(), 'toolenv-lock-')), 'run');
  expect((await runCli(...args(out, '--steps', '6'))).code).toBe(0);
  const { child, finished } = startCli(args(out, '--resume', '--pause', '100000', '--json'));
  await once(child.stdout!, 'data');
  for (const more of [['--resume'], []]) {
    const second = await runCli(...args(out, ...more));
    expect(second).toMatchObject({ code: 2, stdout: '' });
    expect(second.stderr).toMatch(
      new RegExp(`^toolenv: The folder ${out} is in use by process ${child.pid}: .*\\n$`),
    );
  }
  child.kill('SIGKILL');
  expect((await finished).code).toBeNull();
  expect((await readdir(out)).filter((name) => name.startsWith('lock-'))).toHaveLength(1);
  expect(await runCli(...args(out, '--resume', '--pause', '0'))).toMatchObject({ code: 0 });
  expect(await linesOf(join(out, 'metrics.jsonl'))).toHaveLength(2 * steps);
  expect((await readdir(out)).filter((name) => name.startsWith('lock-'))).toEqual([]);
});

it('quits at once at the second SIGINT', async () => {
  const out = join(await mkdtemp(join(tmpdir(), 'toolenv-quit-')), 'run');
  const { child, finished } = startCli([...args(out, '--json'), '--pause', '100', '--stubborn', 'true']);
  await once(child.stdout!, 'data');
  child.kill('SIGINT');
  await once(child.stderr!, 'data');
  setTimeout(() => child.kill('SIGINT'), 500);
  expect((await finished).code).toBe(130);
});
