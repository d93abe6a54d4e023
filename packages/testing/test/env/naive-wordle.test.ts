/** The first attempts of an author at a dialogue: checkEnv catches what is wrong, and shows the line to write. */
import { defineToolEnv, type EnvDefinition, type TurnResult } from '@toolenv/core';
import { expect, test } from 'vitest';
import { assertConforms, type CheckEnvOptions, checkEnv, type RuleId, reportText } from '../../src/index.ts';
import { expectFinding } from '../expect-finding.ts';

const words = ['crane', 'slate', 'pious', 'mound', 'light', 'brick', 'fjord', 'waltz'];

/** G: the right place; Y: elsewhere; -: not in the word. */
function marks(guess: string, word: string): string {
  return [...guess.slice(0, 5)]
    .map((letter, i) => (word[i] === letter ? 'G' : word.includes(letter) ? 'Y' : '-'))
    .join('');
}

/** @param onWrongGuess What the author does about a wrong guess. */
function wordle(onWrongGuess: (seen: string) => TurnResult<'solved'>): EnvDefinition {
  return defineToolEnv({
    name: 'wordle-v1',
    description: 'Guess a word of five letters in six tries.',
    rewards: { solved: { kind: 'outcome' } },
    limits: { maxTurns: 6 },
    tasks: { train: words },
    episode: ({ task: word }) => ({
      messages: 'Guess my word of five letters. G: right place, Y: elsewhere, -: not in it.',
      onAnswer: (guess) =>
        guess === word
          ? { rewards: { solved: 1 }, end: 'solved' }
          : onWrongGuess(`${guess.slice(0, 5)}: ${marks(guess, word)}`),
    }),
    oracle: (word) => [word],
  }) as unknown as EnvDefinition;
}

const few = { actions: 150 };
const only = (rule: RuleId): CheckEnvOptions => ({ ...few, rules: [rule] });

test('a dialogue that replies passes', async () => {
  const report = await assertConforms(
    checkEnv(
      wordle((seen) => seen),
      few,
    ),
  );
  expect(report.warnings).toEqual([]);
});

test('returning only the new message as the context is a warning', async () => {
  const env = wordle((seen) => ({ rewrite: [{ role: 'user', content: seen }] }));
  const report = await checkEnv(env, only('WARN-1'));
  const { expected, hint } = expectFinding(report, 'WARN-1');
  expect(report.ok).toBe(true);
  expect(expected).toContain('Guess my word of five letters.');
  expect(hint).toContain("return 'Try again.'");
  await expect(assertConforms(report)).rejects.toMatchObject({ code: 'bug.conformance' });
});

test('never replying breaks a rule', async () => {
  const { hint } = expectFinding(
    await checkEnv(
      wordle(() => undefined),
      only('ENV-37'),
    ),
    'ENV-37',
  );
  expect(hint).toContain("onAnswer: () => 'That is wrong. Try again.'");
});

test('replying the same to every guess is a warning', async () => {
  const report = await checkEnv(
    wordle(() => 'That is wrong. Try again.'),
    only('WARN-3'),
  );
  expect(expectFinding(report, 'WARN-3').received).toContain('Try again.');
});

test('a warning that is left out by its id is named', async () => {
  const report = await checkEnv(
    wordle(() => 'Wrong.'),
    { ...few, skip: ['WARN-3'] },
  );
  expect(report.warnings, reportText(report)).toEqual([]);
  expect(report.skipped).toContainEqual({ rule: 'WARN-3', reason: 'it was left out by request' });
  await assertConforms(report);
});
