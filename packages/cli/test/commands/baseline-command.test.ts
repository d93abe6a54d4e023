/** `toolenv baseline`: a policy as a baseline, and a trained policy on the same tasks. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

const run = ['baseline', fixture.env, '--policy', fixture.policy, '--count', '9', '--weight', '1'];

describe('toolenv baseline', { timeout: 180_000 }, () => {
  it('scores the baseline with intervals, and the paired difference of a trained policy', async () => {
    const out = await mkdtemp(join(tmpdir(), 'toolenv-baseline-'));
    try {
      const against = ['--against', fixture.policy, '--out', out];
      const { code, stdout } = await runCli(...run, '--kind', 'direct', ...against);
      expect(code).toBe(0);
      expect(stdout).toContain(`policy 1: direct: ${fixture.policy}`);
      expect(stdout).toContain(`policy 2: ${fixture.policy}`);
      // Without tools the switch cannot be pressed: only the three tasks of no press are right.
      const cell = String.raw`\d\.\d{3} \(\d\.\d{3} to \d\.\d{3}\)`;
      expect(stdout).toMatch(/^ {2}EM +0\.333 \(.*\) +1\.000 \(.*\) +\+0\.667 \(.*\)$/m);
      expect(stdout).toMatch(new RegExp(`^  EM +${cell}`, 'm'));
      expect(stdout).toMatch(/^ {2}tool calls +0\.00 +1\.00$/m);
      const { policies, differences } = JSON.parse(await readFile(join(out, 'comparison.json'), 'utf8'));
      expect(differences[0].means.em.mean).toBeCloseTo(policies[1].means.em - policies[0].means.em, 9);
      expect(policies.map(({ policy }: { policy: string }) => policy)).toEqual([
        `direct: ${fixture.policy}`,
        fixture.policy,
      ]);
      expect((await readdir(out)).some((name) => name.startsWith('direct-'))).toBe(true);
    } finally {
      await rm(out, { recursive: true });
    }
  });

  it('plays base-tool-call as eval plays', async () => {
    const baseline = await runCli(...run, '--kind', 'base-tool-call', '--json');
    expect(JSON.parse(baseline.stdout)).toMatchObject({ means: { em: 1 }, toolCalls: 1 });
  });

  it('refuses an unknown kind, a placement without naive-rag, and an environment without a search', async () => {
    expect(await runCli(...run, '--kind', 'rag')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Allowed choices are direct, naive-rag, base-tool-call'),
    });
    expect(await runCli(...run, '--kind', 'direct', '--placement', 'after')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--placement is for --kind naive-rag'),
    });
    const bare = await runCli(...run, '--kind', 'naive-rag');
    expect(bare.code).toBe(2);
    expect(bare.stderr).toContain(
      'naive-rag needs a tool with a query, but the tools of the environment are press',
    );
  });
});
