/** The advantages of tokens and the distances to the teacher equal numpy's. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { groupAdvantages } from '@toolenv/training';
import { expect, test } from 'vitest';
import { rateTokens } from '../src/distill.ts';

interface Golden {
  student: number[][];
  teacher: number[][];
  mask: number[][];
  rewards: number[];
  groups: number[];
  reverseKl: number;
  agreement: number;
  cases: {
    options: { teacherCoefficient: number; rewardCoefficient: number; klClamp: number };
    advantages: number[][];
  }[];
}

const file = join(import.meta.dirname, 'golden', 'advantages.json');
const golden: Golden = JSON.parse(await readFile(file, 'utf8'));
const student = golden.student.map((row) => Float32Array.from(row));
const teacher = golden.teacher.map((row) => Float32Array.from(row));
const mask = golden.mask.map((row) => Uint8Array.from(row));
const compared = groupAdvantages(golden.rewards, golden.groups);

test.each(golden.cases)('$options', ({ options, advantages: expected }) => {
  const earned = mask.map((row, b) =>
    Float64Array.from(row, (bit) => (bit === 1 ? options.rewardCoefficient * compared[b]! : 0)),
  );
  const { advantages, metrics } = rateTokens(earned, student, teacher, mask, options);
  for (const [b, row] of advantages.entries()) {
    for (const [t, advantage] of row.entries())
      expect(Math.abs(advantage - expected[b]![t]!)).toBeLessThan(1e-6);
  }
  expect(metrics['teacher/reverse_kl']).toBeCloseTo(golden.reverseKl, 9);
  expect(metrics['teacher/agreement']).toBeCloseTo(golden.agreement, 9);
});

test('what the environment wrote has no advantage, whatever the numbers there', () => {
  const strange = teacher.map((row, b) =>
    row.map((logprob, t) => (mask[b]![t] === 1 ? logprob : Number.NaN)),
  );
  const earned = mask.map((row) => new Float64Array(row.length));
  const options = { teacherCoefficient: 1, klClamp: 10 };
  const { advantages } = rateTokens(earned, student, strange, mask, options);
  for (const [b, row] of advantages.entries())
    for (const [t, advantage] of row.entries()) if (mask[b]![t] === 0) expect(advantage).toBe(0);
});

test('a student that is the teacher has nothing to learn', () => {
  const earned = mask.map((row) => new Float64Array(row.length));
  const options = { teacherCoefficient: 1, klClamp: 10 };
  const { advantages, metrics } = rateTokens(earned, student, student, mask, options);
  for (const row of advantages) for (const advantage of row) expect(Math.abs(advantage)).toBe(0);
  expect(metrics).toEqual({ 'teacher/reverse_kl': 0, 'teacher/agreement': 1 });
});
