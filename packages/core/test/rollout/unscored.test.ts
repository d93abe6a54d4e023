/** Episodes that nothing scored: null is not 0. */
import { expect, test } from 'vitest';
import { defineToolEnv, openEnv, playTask } from '../../src/index.ts';
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
  // As earlier versions wrote it.
  expect([...trajectoryViolations({ ...unscored, reward: 0 })]).toEqual([]);
  expect([...trajectoryViolations({ ...unscored, reward: 0.5 })]).toMatchObject([{ rule: 'TRAJ-3' }]);
  expect((await playTask(await judged(() => 0), 'go', ['x'])).reward).toBe(0);
});

test('do not come from a truncation, which scores 0', async () => {
  const unknown = [{ name: 'none', arguments: {} }];
  const cut = await playTask(await judged(() => null), 'go', [unknown, unknown]);
  expect(cut).toMatchObject({ outcome: { kind: 'truncated' }, rewards: { right: 0 }, reward: 0 });
});
