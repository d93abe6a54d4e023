/** Episodes that nothing scored: null is not 0. */
import { expect, test } from 'vitest';
import { defineToolEnv, openEnv, playTask, type Trajectory, truncated } from '../../src/index.ts';
import { trajectoryViolations } from '../../src/recording/trajectory-violations.ts';

const judged = (score: () => number | null) =>
  openEnv(
    defineToolEnv({
      name: 'judged-v1',
      description: 'A judge.',
      tasks: { test: ['go'] },
      limits: { maxTurns: 2 },
      rewards: { right: { kind: 'outcome', score }, length: { kind: 'outcome', weight: 0, score: () => 1 } },
      episode: () => ({ messages: 'Answer.' }),
    }),
  );

test('have no reward, and are not aborted', async () => {
  const unscored = await playTask(await judged(() => null), 'go', ['x']);
  expect(unscored).toMatchObject({
    outcome: { kind: 'terminated' },
    rewards: { right: null, length: 1 },
    reward: null,
  });
  expect([...trajectoryViolations(unscored)]).toEqual([]);
  for (const reward of [0, 0.5])
    expect([...trajectoryViolations({ ...unscored, reward })]).toMatchObject([{ rule: 'TRAJ-3' }]);
  expect((await playTask(await judged(() => 0), 'go', ['x'])).reward).toBe(0);
});

test('do not come from a truncation, which scores 0', async () => {
  const unknown = [{ name: 'none', arguments: {} }];
  const cut = await playTask(await judged(() => null), 'go', [unknown, unknown]);
  expect(cut).toMatchObject({ outcome: { kind: 'truncated' }, rewards: { right: 0 }, reward: 0 });
});

test('earn nothing where they have no step, whatever a file claims', async () => {
  const played = await playTask(await judged(() => 1), 'go', ['x']);
  expect(played.reward).toBe(1);
  const rules = (claimed: Partial<Trajectory>) =>
    [...trajectoryViolations({ ...played, steps: [], ...claimed })].map(({ rule }) => rule);
  expect(rules({})).toEqual(['TRAJ-3']);
  expect(rules({ outcome: truncated('deadline') })).toEqual(['TRAJ-3']);
  expect(rules({ rewards: { right: 0, length: 0 }, reward: 1 })).toEqual(['TRAJ-3']);
  expect(rules({ rewards: { right: 0, length: 0 }, reward: 0 })).toEqual([]);
});
