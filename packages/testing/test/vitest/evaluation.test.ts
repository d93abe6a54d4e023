/** Evaluations in a test of Vitest, with the matchers that such tests use. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineToolEnv, openEnv, type Policy, scriptedPolicy, type Trajectory } from '@toolenv/core';
import { readTrajectories } from '@toolenv/core/recording';
import { expect, onTestFinished, test } from 'vitest';
import { checkEnv } from '../../src/index.ts';
import { evaluate, readEvaluation } from '../../src/vitest/index.ts';

/** Sums of two numbers, of which the first `known` are asked of a policy that knows them. */
const sums = defineToolEnv({
  name: 'sums-v1',
  description: 'Add two numbers.',
  limits: { maxTurns: 1 },
  tasks: { test: { length: 16, get: (a: number) => ({ a, b: 3 }) } },
  rewards: { em: { kind: 'outcome' } },
  episode: ({ task: { a, b } }) => ({
    messages: `What is ${a} + ${b}?`,
    onAnswer: (text) => ({ rewards: { em: Number(text === String(a + b)) }, end: 'answered' }),
  }),
  oracle: ({ a, b }) => [String(a + b)],
});

function adds(known: number): Policy {
  return scriptedPolicy(({ messages }) => {
    const [, a, b] = /(\d+) \+ (\d+)/.exec(messages.at(-1)!.content)!;
    return Number(a) < known ? String(Number(a) + Number(b)) : 'I do not know.';
  });
}

async function played(known: number) {
  const out = await mkdtemp(join(tmpdir(), 'toolenv-in-test-'));
  onTestFinished(() => rm(out, { recursive: true }));
  await using env = await openEnv(sums);
  return evaluate({ env, policy: adds(known), out });
}

/** What a matcher says when it fails. */
function failure(assertion: () => unknown): string {
  try {
    assertion();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('The assertion passed.');
}

test('toScore passes within the bounds, and else lists the failed tasks and their file', async () => {
  const result = await played(12);
  expect(result).toScore({ em: { atLeast: 0.75 }, reward: { atLeast: 0.7, atMost: 0.8 } });
  expect(result).not.toScore({ em: { atLeast: 0.76 } });
  expect(failure(() => expect(result).toScore({ em: { atLeast: 0.8 }, reward: { atMost: 1 } }))).toBe(
    [
      'em is 0.750 (95 % interval 0.505 to 0.898), and must be at least 0.8.',
      '4 of 16 tasks are beyond it:',
      ...[12, 13, 14, 15].map((a) => `  task ${a}: 0.000  What is ${a} + 3?`),
      `Transcripts: ${result.transcripts}`,
    ].join('\n'),
  );
  expect(failure(() => expect(result).toScore({ accuracy: { atLeast: 0.8 } }))).toContain(
    'Metrics: reward, em.',
  );
  expect(failure(() => expect(result).toScore({}))).toContain('give bounds');
  expect(failure(() => expect(played(1)).toScore({ em: {} }))).toContain('do not forget await');
});

test('toKeepUpWith fails only for a loss beyond chance, and toBeat passes only for such a gain', async () => {
  const [good, less, bad] = [await played(16), await played(9), await played(8)];
  expect(good).toKeepUpWith(good);
  expect(less).toKeepUpWith(good);
  expect(bad).not.toKeepUpWith(good);
  expect(bad).toKeepUpWith(good, { confidence: 0.999 });
  expect(good).toBeat(bad);
  expect(good).not.toBeat(less);
  const message = failure(() => expect(bad).toKeepUpWith(good));
  expect(message).toContain(
    'em is 0.500 over 16 tasks, and that of the baseline is 1.000: a difference of −0.500',
  );
  expect(message).toContain('  task 8: 1.000 → 0.000  What is 8 + 3?');
  expect(message).toContain(`Transcripts: ${bad.transcripts}`);
  expect(failure(() => expect(bad).toBeat('baseline.json' as never))).toContain('await readEvaluation(file)');
});

test('evaluate writes the files of toolenv eval --out, and replaces those of the run before', async () => {
  const { out, transcripts, ...first } = await played(2);
  await using env = await openEnv(sums);
  await evaluate({ env, policy: adds(3), count: 10, out });
  const episodes: Trajectory[] = [];
  for await (const episode of readTrajectories(transcripts)) episodes.push(episode);
  expect(episodes.map(({ rewards }) => rewards.em).filter(Boolean)).toHaveLength(3);
  expect(episodes).toHaveLength(10);
  const summary = JSON.parse(await readFile(join(out, 'summary.json'), 'utf8'));
  expect(summary).toMatchObject({ env: 'sums-v1', policy: 'scripted', count: 10, means: { em: 0.3 } });
  expect((await readEvaluation(out)).tasks.slice(0, 2)).toEqual(first.tasks.slice(0, 2));
});

test('toPass checks rules of an environment, or those of a report', async () => {
  await expect(sums).toPass(['ENV-7', 'ENV-1']);
  const wrong = { ...sums, oracle: () => ['5'] };
  await expect(wrong).not.toPass('ENV-32');
  await expect(expect(wrong).toPass(undefined, { actions: 50 })).rejects.toThrow(/^ENV-32 .*\n {2}expected/m);
  const report = checkEnv(sums, { rules: ['ENV-7'] });
  await expect(report).toPass('ENV-7');
  await expect(expect(report).toPass('ENV-1')).rejects.toThrow(
    'ENV-1 was not checked: it was left out by request.',
  );
  await expect(expect(report).toPass('TOOL-1')).rejects.toThrow('TOOL-1 was not checked');
  await expect(expect(report).toPass('ENV-99' as never)).rejects.toThrow('there is no rule ENV-99');
});
