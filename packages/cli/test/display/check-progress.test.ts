/** The progress of `toolenv check` never passes its total. */
import { rules } from '@toolenv/testing';
import { expect, test, vi } from 'vitest';
import { Progress } from '../../src/display/progress.ts';
import { CheckProgress } from '../../src/display/report-view.ts';

test('warnings do not count towards the rules of an environment', () => {
  const update = vi.spyOn(Progress.prototype, 'update').mockImplementation(() => {});
  const progress = new CheckProgress(10);
  const all = Object.keys(rules) as (keyof typeof rules)[];
  const ofEnv = all.filter((rule) => rule.startsWith('ENV-'));
  // Each rule and each warning on its own, as a check reports them.
  for (const rule of all.filter((id) => /^(ENV|WARN)-/.test(id))) progress.rules([rule], 'lamp-v1');
  progress.rules([ofEnv[0]!], 'lamp-v1');
  progress.stop();
  expect(Math.max(...update.mock.calls.map(([done]) => done))).toBe(ofEnv.length);
});
