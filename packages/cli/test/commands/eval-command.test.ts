/** `toolenv eval` with several episodes of each task. */
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

const often = ['--count', '6', '--samples', '4', '--temperature', '1'];

it('shows means with their intervals, and pass@k', async () => {
  const { code, stdout, stderr } = await runCli('eval', fixture.env, '--policy', fixture.policy, ...often);
  expect(code).toBe(0);
  expect(stderr).toContain('24/24');
  const number = String.raw`\d\.\d{3}`;
  expect(stdout).toContain('means with 95 % confidence intervals over tasks');
  for (const name of ['reward', 'EM', 'tidy', 'EM pass@1', 'EM pass@2', 'EM pass@4'])
    expect(stdout).toMatch(new RegExp(`^  ${name} +${number} \\(-?${number} to ${number}\\)$`, 'm'));
  expect(stdout).not.toContain('pass@3');
});

it('prints them as JSON', async () => {
  const { stdout } = await runCli('eval', fixture.env, '--policy', fixture.policy, ...often, '--json');
  const { episodes, means, intervals, pass } = JSON.parse(stdout);
  expect(episodes).toBe(24);
  expect(pass.score).toBe('em');
  expect(pass.at['1'].mean).toBeCloseTo(means.em, 12);
  expect(pass.at['4'].mean).toBeGreaterThanOrEqual(pass.at['2'].mean);
  expect(intervals.em[0]).toBeLessThanOrEqual(means.em);
  expect(intervals.em[1]).toBeGreaterThanOrEqual(means.em);
});

describe('several policies', () => {
  const [good, bad] = ['fixture-plugin/weight-v1', 'fixture-plugin/idle-v1'];
  const both = ['eval', fixture.env, '--policy', good!, '--policy', bad!, '--count', '6'];

  it('are one table, with the differences from the first on the same tasks', async () => {
    const { code, stdout } = await runCli(...both, '--weight', '1');
    expect(code).toBe(0);
    expect(stdout).toContain('policy 1: fixture-plugin/weight-v1');
    expect(stdout).toContain('policy 2: fixture-plugin/idle-v1');
    const number = String.raw`[+-]?\d\.\d{3}`;
    const cell = String.raw`${number} \(${number} to ${number}\)`;
    expect(stdout).toMatch(new RegExp(`^  reward +${cell} +${cell} +-${cell.slice(5)}$`, 'm'));
    expect(stdout).toContain('2 minus 1');
  });

  it('are one JSON object, whose differences are those of the means', async () => {
    const { stdout } = await runCli(...both, '--weight', '1', '--json');
    const { policies, differences } = JSON.parse(stdout);
    const [first, second] = policies;
    expect([first.policy, second.policy]).toEqual([good, bad]);
    expect(differences[0].reward.mean).toBeCloseTo(second.reward - first.reward, 9);
    expect(differences[0].means.em.mean).toBeCloseTo(second.means.em - first.means.em, 9);
    const [low, high] = differences[0].reward.interval;
    expect(low).toBeLessThanOrEqual(differences[0].reward.mean);
    expect(high).toBeGreaterThanOrEqual(differences[0].reward.mean);
  });

  it('go on after an interruption, and no finished episode is played again', async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'toolenv-eval-'));
    try {
      const [out, log] = [join(scratch, 'out'), join(scratch, 'log')];
      vi.stubEnv('IDLE_LOG', log);
      vi.stubEnv('IDLE_FAILS_AFTER', '2');
      const args = [...both, '--out', out, '--concurrency', '1', '--seed', '4'];
      const broken = await runCli(...args);
      expect(broken.code).not.toBe(0);
      const folders = (await readdir(out)).filter((name) => name.includes('idle'));
      const file = join(out, folders[0]!, 'trajectories.jsonl');
      // As a crash in the middle of a line leaves it.
      await appendFile(file, '{"version":1,"ste');
      const asked = async () => (await readFile(log, 'utf8')).split('\n').length - 1;
      const before = await asked();
      const text = await readFile(file, 'utf8');
      expect(text.split('\n').length - 1).toBe(2);
      // A reward that is not that of its components.
      await writeFile(file, text.replace(/"reward":[\d.]+/, '"reward":0.75'));

      vi.stubEnv('IDLE_FAILS_AFTER', undefined);
      const refused = await runCli(...args);
      expect(refused.stderr).toContain('--resume');
      const resumed = await runCli(...args, '--resume', '--json');
      expect(resumed.stderr).not.toContain('toolenv:');
      expect(resumed.code).toBe(0);
      expect((await asked()) - before).toBe(5);
      vi.stubEnv('IDLE_LOG', undefined);
      const alone = await runCli(...both, '--seed', '4', '--json');
      vi.stubEnv('IDLE_LOG', log);
      const plain = (text: string) =>
        JSON.parse(text, (name, value) => (name === 'seconds' || name === 'concurrency' ? undefined : value));
      expect(plain(resumed.stdout)).toEqual(plain(alone.stdout));

      expect(plain(await readFile(join(out, 'comparison.json'), 'utf8'))).toEqual(plain(alone.stdout));

      const again = await runCli(...args, '--resume');
      expect(again.code).toBe(0);
      expect((await asked()) - before).toBe(5);
      const other = await runCli(...args, '--resume', '--temperature', '1');
      expect(other.stderr).toMatch(/has an evaluation with temperature 0, and this one has 1/);
      expect(other.code).toBe(2);
    } finally {
      await rm(scratch, { recursive: true });
    }
  });

  it.each([
    [['--policy', good!, '--policy', good!], /is given twice/],
    [['--policy', good!, '--policy', bad!, '--record', 'x.jsonl'], /--record is for one policy/],
    [['--policy', good!, '--resume'], /--resume needs --out/],
  ])('refuses %j', async (flags, message) => {
    const { code, stderr } = await runCli('eval', fixture.env, ...flags);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});

it('an address with a scheme names a policy of a server', async () => {
  const { code, stderr } = await runCli('eval', fixture.env, '--policy', 'openai:ftp://nowhere#m');
  expect(stderr).toMatch(
    /^toolenv: "ftp:\/\/nowhere#m" is not the address of a model: write <url>#<model>, for example openai:/,
  );
  expect(code).toBe(2);
  const absent = await runCli('eval', fixture.env, '--policy', 'nothing-such:there');
  expect(absent.stderr).toContain('npm install @toolenv/nothing-such');
  expect(absent.code).toBe(2);
}, 120_000);

describe('aborted episodes', () => {
  const throwing = join(import.meta.dirname, '../authored/throwing.ts');
  const play = ['eval', throwing, '--policy', 'oracle', '--retries', '0'];
  const cause = 'infrastructure.tool_failed: Tool "balance" failed: There is no such account';

  it('are counted by their cause', async () => {
    const { code, stdout } = await runCli(...play);
    expect(code).toBe(0);
    expect(stdout).toMatch(/left out +25 % aborted/);
    expect(stdout).toMatch(new RegExp(`^  aborted +1 × ${cause}$`, 'm'));
    expect(JSON.parse((await runCli(...play, '--json')).stdout).causes).toEqual({ [cause]: 1 });
  });

  it('are counted by their cause by workers too, which fail if nothing was scored', async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'toolenv-rollout-'));
    onTestFinished(() => rm(scratch, { recursive: true }));
    const worker = (out: string, ...more: string[]) => {
      const flags = ['--split', 'test', '--max-aborted', '1', '--out', join(scratch, out)];
      return runCli('rollout', ...play.slice(1), ...flags, ...more);
    };
    const some = await worker('some');
    expect(some.stdout).toContain(`, 1 of them aborted. Mean reward 1.000.\n  aborted  1 × ${cause}\n`);
    expect(some.code).toBe(0);
    vi.stubEnv('THROWS', 'always');
    const none = await worker('none', '--json');
    expect(JSON.parse(none.stdout)).toMatchObject({ episodes: 4, aborted: 4, causes: { [cause]: 4 } });
    expect(none.stderr).toContain(
      `toolenv: No episode of oracle was scored: all 4 were aborted, 4 of them by ${cause}\n`,
    );
    expect(none.code).toBe(1);
  });

  it('fail the command if nothing was scored', async () => {
    vi.stubEnv('THROWS', 'always');
    const { code, stdout, stderr } = await runCli(...play);
    expect(stdout).toMatch(/left out +100 % aborted/);
    expect(stderr).toContain(
      `toolenv: No episode of oracle was scored: all 4 were aborted, 4 of them by ${cause}\n`,
    );
    expect(code).toBe(1);
  });
});

it('an evaluation goes on under other spellings of its files', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'toolenv-eval-'));
  try {
    const played = (folder: string, ...more: string[]) => {
      const [env, one, other] = ['env.ts', 'policy.ts', 'idle-policy.ts'].map((name) => `${folder}/${name}`);
      const policies = ['--policy', one!, '--policy', other!];
      return runCli('eval', env!, ...policies, '--count', '2', '--out', join(scratch, 'out'), ...more);
    };
    expect(await played(fixture.folder)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^episodes/),
    });
    const folders = (await readdir(join(scratch, 'out'))).sort();
    // They say nothing else of this machine.
    expect(folders.map((name) => name.replace(/-[0-9a-f]{8}$/, ''))).toEqual([
      'comparison.json',
      'fixture-plugin-idle-policy.ts',
      'fixture-plugin-policy.ts',
    ]);
    for (const folder of ['.', '../fixture-plugin'])
      expect(await played(folder, '--resume')).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/^episodes/),
      });
    expect((await readdir(join(scratch, 'out'))).sort()).toEqual(folders);
  } finally {
    await rm(scratch, { recursive: true });
  }
});
