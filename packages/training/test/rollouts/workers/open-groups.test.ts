/** OpenGroups: whatever a trainer does, and whenever it goes back to its checkpoint, each drawn task is learned from once. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OpenGroups } from '../../../src/rollouts/workers/open-groups.ts';
import { isOfThisRun, readState, versionName } from '../../../src/rollouts/workers/training-state.ts';
import { withParts } from '../../../src/run-folder/checkpoints.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'open-groups-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const learner = { save: async () => {}, load: async () => {} };

test('no task is lost and none is learned from twice', async () => {
  const action = fc.oneof(
    fc.record({ do: fc.constant('fill' as const), n: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ do: fc.constant('learn' as const), n: fc.nat(8) }),
    fc.record({ do: fc.constant('replace' as const), n: fc.nat(8) }),
    fc.record({ do: fc.constantFrom('save' as const, 'resume' as const), n: fc.constant(0) }),
  );
  // Each draw gives three tasks that no other draw gives.
  const draw = async (draws: number) => [3 * draws, 3 * draws + 1, 3 * draws + 2];
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      const folder = await mkdtemp(join(root, `${run++}-`));
      let groups = new OpenGroups();
      let learned: number[] = [];
      let numbers: number[] = [];
      let saved: { learned: number[]; numbers: number[] } | undefined;
      for (const { do: what, n } of actions) {
        const entry = groups.entries[n % Math.max(groups.size, 1)];
        if (what === 'fill') await groups.fill(n, draw);
        else if (what === 'replace' && entry) {
          groups.replace(entry[0]);
          if (saved?.numbers.includes(entry[0])) expect(groups.isOver(entry[0])).toBe(false);
        } else if (what === 'learn' && entry) {
          learned.push(entry[1]);
          groups.close(entry[0]);
        } else if (what === 'save') {
          await withParts(learner, [groups]).save(folder);
          saved = { learned: [...learned], numbers: groups.entries.map(([number]) => number) };
        } else if (what === 'resume' && saved) {
          groups = new OpenGroups();
          await withParts(learner, [groups]).load(folder);
          learned = [...saved.learned];
          expect(groups.entries.map(([number]) => number)).toEqual(saved.numbers);
        }
        numbers = groups.entries.map(([number]) => number);
        expect(new Set(numbers).size).toBe(numbers.length);
        for (const number of numbers) expect(groups.isOver(number)).toBe(false);
        const tasks = [...learned, ...groups.entries.map(([, task]) => task)].sort((a, b) => a - b);
        expect(tasks).toEqual(tasks.map((_, task) => task));
      }
    }),
    { numRuns: 60 },
  );
}, 120_000);

test('policies that a trainer published and lost are not of its run', () => {
  // The trainer resumed at update 10, and then at update 12.
  const restarts = [10, 12];
  const of = (policyVersion: number, restart: number) => isOfThisRun({ policyVersion, restart }, restarts);
  expect([of(10, 0), of(11, 0), of(11, 1), of(12, 1), of(13, 1), of(13, 2), of(99, 2)]).toEqual([
    ...[true, false, true, true, false, true, true],
  ]);
  expect([versionName(12, []), versionName(12, [10])]).toEqual(['version-12', 'version-12-r1']);
});

test.each([
  '{}',
  '{"policyVersion":1',
  '{"policyVersion":1,"policy":"../elsewhere","restarts":[],"open":[],"finished":false}',
])('a state that no trainer has written is refused in one line: %s', async (text) => {
  const file = join(root, 'state.json');
  await writeFile(file, text);
  await expect(readState(file)).rejects.toThrow(
    /state\.json is damaged \(.*\): start a run in another folder\.$/,
  );
});
