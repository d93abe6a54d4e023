/** checkTrajectory reports each defect under its rule, and reports nothing for valid trajectories. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aborted, ToolEnvError, type Trajectory, truncated } from '@toolenv/core';
import { encodeTrajectory } from '@toolenv/core/recording';
import { expect, test } from 'vitest';
import { checkTrajectory, checkTrajectoryFile, reportText } from '../src/index.ts';
import { brokenTrajectories, goodTrajectory } from './broken-trajectories.ts';
import { expectFinding } from './expect-finding.ts';

const unscored = { rewards: { right: null, looked: null }, reward: null };
const good: [what: string, trajectory: Trajectory][] = [
  ['a finished trajectory', goodTrajectory()],
  [
    'an aborted trajectory',
    { ...goodTrajectory(), ...unscored, outcome: aborted(new ToolEnvError('infrastructure.server', 'down')) },
  ],
  [
    'a trajectory truncated before its first step',
    {
      ...goodTrajectory(),
      steps: [],
      rewards: { right: 0, looked: null },
      reward: 0,
      outcome: truncated('deadline'),
    },
  ],
];

test.each(good)('%s passes every rule, in memory and as a line', async (_, trajectory) => {
  for (const subject of [trajectory, encodeTrajectory(trajectory)]) {
    const report = await checkTrajectory(subject);
    expect(reportText(report)).toMatch(/: 9 rules hold, 0 broken, 0 not checked\.$/);
  }
});

test.each(brokenTrajectories)('%s: %s', async (_, rule, make) => {
  expectFinding(await checkTrajectory(make()), rule);
});

test('makes one report of a file, whose findings name their lines', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-trajectories-'));
  try {
    const file = join(folder, 'trajectories.jsonl');
    const lines = [goodTrajectory(), { ...goodTrajectory(), reward: 2 }, goodTrajectory()].map(
      encodeTrajectory,
    );
    await writeFile(file, `${lines.join('\n')}\n`);
    const report = await checkTrajectoryFile(file);
    expect(report).toMatchObject({
      subject: file,
      ok: false,
      findings: [{ rule: 'TRAJ-3', received: `2 (${file}:2)` }],
    });
    expect(report.passed.length).toBe(8);
    await writeFile(file, '\n');
    await expect(checkTrajectoryFile(file)).rejects.toMatchObject({ code: 'usage.empty_file' });
    await expect(checkTrajectoryFile(`${file}x`)).rejects.toMatchObject({ code: 'usage.missing_file' });
  } finally {
    await rm(folder, { recursive: true });
  }
});
