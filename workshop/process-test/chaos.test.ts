/** The soak fails when something is wrong: parts that hang, die or leak errors, and episodes, texts and files that are misjudged. */
import { join } from 'node:path';
import { createRng, deriveSeed, ToolEnvError, type Trajectory } from '@toolenv/core';
import { expect, test } from 'vitest';
import { faults } from '../chaos/episodes/faults.ts';
import { flat, growthOf } from '../chaos/episodes/memory.ts';
import { drawPlan, episodeFaults, shares } from '../chaos/episodes/plan.ts';
import { play } from '../chaos/episodes/play.ts';
import { verdict } from '../chaos/episodes/verdict.ts';
import { mutateBytes, mutateJson } from '../chaos/files/mutate.ts';
import { controlCharacter, wrongError } from '../chaos/files/subject.ts';
import { judge } from '../chaos/parsers/parse-texts.ts';
import { parts } from '../chaos/parts.ts';
import { table, withTable } from '../chaos/report.ts';
import { runPart } from '../chaos/soak.ts';

const module = join(import.meta.dirname, 'chaos-part.ts');
const failures = async (seed: number) => {
  const { checks } = await runPart(
    parts[0]!,
    { quick: true, seed },
    { module, limit: seed === 1 ? 10_000 : 60_000 },
  );
  expect(checks[0]).toEqual({ name: 'first', passed: true, detail: 'before' });
  return checks.filter(({ passed }) => !passed).map(({ name, detail }) => `${name}: ${detail}`);
};

test.each([
  [0, []],
  [1, ['ends: hangs: it did not end within 10 s']],
  [2, ['survives: the process died: SIGKILL\n']],
  [3, ['ends: broken']],
  [4, ['no escapes: unhandledRejection: late']],
  [5, ['no escapes: uncaughtException: later']],
])('a part that goes wrong in way %i fails, and keeps the checks from before', async (seed, expected) => {
  expect(await failures(seed)).toEqual(expected);
});

test('a part that is interrupted ends with the reason', async () => {
  const controller = new AbortController();
  const part = runPart(parts[0]!, { quick: true, seed: 1 }, { module, signal: controller.signal });
  setTimeout(() => controller.abort(new Error('stop')), 500);
  await expect(part).rejects.toThrow('stop');
});

test('plans have the faults in the shares that they promise', () => {
  const plans = Array.from({ length: 20_000 }, (_, number) => drawPlan(1, number));
  const calls = plans.flatMap(({ turns }) => turns.flat());
  for (const [kind, share] of Object.entries(shares)) {
    const drawn = calls.filter((fault) => fault?.kind === kind).length / calls.length;
    expect(Math.abs(drawn - share), kind).toBeLessThan(0.01);
  }
  expect(new Set(calls)).toEqual(new Set([undefined, ...faults]));
  expect(new Set(plans.map(({ episodeFault }) => episodeFault))).toEqual(
    new Set([undefined, ...Object.keys(episodeFaults)]),
  );
});

const plan = { turns: [[undefined]], right: true };
const cause = (code: string, message = 'gone') => new ToolEnvError(code as never, message);
const ended = (outcome: Trajectory['outcome'], reward: number | null) =>
  ({ outcome, reward, steps: [] }) as unknown as Trajectory;
const answered = { kind: 'terminated', reason: 'answered' } as const;
const aborted = (code: string, reward: number | null = null, message?: string) =>
  ended({ kind: 'aborted', cause: cause(code, message), retryable: true }, reward);
const cut = ended({ kind: 'truncated', reason: 'deadline' }, 0);

test.each([
  ['a right score', ended(answered, 1.25), [], undefined],
  ['a wrong score', ended(answered, 2), [], 'scored 2 instead of 1.25'],
  ['a score after a fault', ended(answered, 1.25), ['never answers'], 'scored 1.25 after "never answers"'],
  ['a score after data', ended(answered, 1.25), ['reports an error'], undefined],
  ['an abort after a fault', aborted('infrastructure.x'), ['never answers'], undefined],
  [
    'an abort without a fault',
    aborted('infrastructure.x'),
    [],
    'aborted without a fault: infrastructure.x gone',
  ],
  ['an abort without a code', aborted(''), ['null'], 'after "null" aborted without a code'],
  ['an abort with a reward', aborted('bug.x', 0), ['null'], 'after "null" aborted with the reward 0'],
  [
    'an abort with a long cause',
    aborted('bug.x', null, 'x'.repeat(5_000)),
    ['null'],
    'after "null" aborted with 5000 characters',
  ],
  ['a truncation', cut, [], 'ended as truncated without a fault'],
])('judges %s', (_name, trajectory, injected, expected) => {
  expect(verdict(trajectory, plan, injected)).toBe(expected);
});

test('plays episodes whose tools throw, hang and report errors', async () => {
  const named = (name: string) => faults.find((fault) => fault.name === name)!;
  const of = (name: string) => ({ turns: [[named(name)]], right: false });
  const plans = [plan, of('throws an Error'), of('never answers'), of('reports an error'), of('no content')];
  expect(await play(plans, { toolTimeout: 200, limit: 20_000 })).toMatchObject({
    episodes: 5,
    aborted: 3,
    faulty: 4,
    wrong: [],
  });
});

test('judges parsers by what they throw, return and take', () => {
  const parser = (parse: (raw: string) => unknown) =>
    judge({ parse: parse as never }, '[TOOL_CALLS]a[ARGS]{}', true);
  const call = { id: '1', name: 'a', arguments: {} };
  expect(parser(() => ({ text: '', toolCalls: [call] }))).toBeUndefined();
  expect(parser(() => ({ text: '', toolCalls: [{ ...call, name: 'b' }] }))).toMatch('"b"');
  expect(parser(() => ({ text: '', toolCalls: [{ ...call, arguments: [] }] }))).toMatch('arguments');
  expect(parser(() => ({ toolCalls: [] }))).toBe('gave no text');
  expect(
    parser(() => {
      throw new RangeError('deep');
    }),
  ).toBe('threw RangeError: deep');
  const slow = () => {
    for (const start = process.cpuUsage(); process.cpuUsage(start).user < 50_000; );
    return { text: '', toolCalls: [] };
  };
  expect(parser(slow)).toMatch(/^took \d+ ms for 21 characters/);
});

test('mutations damage bytes and JSON', () => {
  const bytes = Buffer.from('0123456789'.repeat(20));
  const json = '{"a":{"b":[1,2]},"c":"text"}';
  let [same, changed] = [0, 0];
  for (let seed = 0; seed < 300; seed++) {
    const rng = createRng(deriveSeed(seed, 'mutations'));
    if (mutateBytes(rng, bytes).equals(bytes)) same += 1;
    if (mutateJson(rng, json) !== json) changed += 1;
  }
  expect(same).toBeLessThan(30);
  expect(changed).toBeGreaterThan(270);
});

test('judges the errors of damaged files', () => {
  expect(wrongError(cause('usage.x'))).toBeUndefined();
  expect(wrongError(cause('bug.x'))).toMatch('bug of the program');
  expect(wrongError(cause('usage.x', 'one\ntwo'))).toMatch('several lines');
  expect(wrongError(cause('usage.x', 'x'.repeat(3_000)))).toMatch('3000 characters');
  expect(wrongError(new TypeError('of null'))).toBe('TypeError: of null');
  expect(controlCharacter('a\tb\nc ä 😀')).toBeUndefined();
  expect(controlCharacter('a\u001b[31m')).toBe('\u001b');
  expect(controlCharacter('a\u202e')).toBe('\u202e');
});

test('memory that grows is not flat', () => {
  expect(growthOf([10, 11, 10, 11, 10, 11])).toBeLessThan(flat);
  expect(growthOf([10, 11, 12, 13, 14, 15])).toBeGreaterThan(flat);
  expect(growthOf([10]) < flat).toBe(false);
});

test('writes the tables between the markers', () => {
  const checks = [
    { name: 'a | b', passed: true, detail: '7 <things>' },
    { name: 'c', passed: false, detail: 'two\nlines' },
  ];
  const reports = [{ name: 'kills', checks, seconds: 90 }];
  const text = table(reports, { date: '2026-01-02', machine: '2 cores' });
  expect(text).toContain('Measured on 2026-01-02, on 2 cores, in 1.5 minutes: 1 passed, 1 failed.');
  expect(text).toContain('| a \\| b | passed | 7 &lt;things> |\n| c | **failed** | two lines |');
  const page = 'before\n<!-- chaos:begin -->\nold\n<!-- chaos:end -->\nafter\n';
  expect(withTable(page, 'new')).toBe('before\n<!-- chaos:begin -->\n\nnew\n\n<!-- chaos:end -->\nafter\n');
  expect(withTable(withTable(page, 'new'), 'new')).toBe(withTable(page, 'new'));
  expect(() => withTable('no markers', 'new')).toThrow('lacks');
});
