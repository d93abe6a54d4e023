/** Links of the playground, and the code that a reader writes there. */
import { openEnv, playTask } from '@toolenv/core';
import bridge from '@toolenv/envs-qa/bridge-v1';
import search from '@toolenv/tools-search/search-v1';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { environmentExample, rewardExample, safeRewardExample } from '../playground/code-examples.ts';
import { maxSteps, readSetup, writeSetup } from '../playground/link.ts';
import { syntaxMistake } from '../playground/syntax-mistake.ts';
import { defaultExport, environmentDefinition, rewardFunction, withReward } from '../playground/user-code.ts';

test('a link carries what the reader set', () => {
  const setups = fc.record({
    question: fc.nat(),
    steps: fc.integer({ min: 1, max: maxSteps }),
    seed: fc.nat(),
    trained: fc.array(fc.record({ steps: fc.integer({ min: 1, max: 20 }), seed: fc.nat() }), {
      maxLength: 10,
    }),
    weights: fc.constantFrom('', '0123456789ab'),
    reward: fc.string(),
    environment: fc.string(),
  });
  fc.assert(
    fc.property(setups, (setup) => {
      expect(readSetup(writeSetup(setup))).toEqual(setup);
    }),
  );
});

test('a link carries code as it was written', () => {
  const setup = { ...readSetup(''), reward: '// 5 % + 1 & “é” 𝛑\r\nexport default () => 1;\n' };
  expect(readSetup(writeSetup(setup))).toEqual(setup);
});

test('a link with nonsense has the defaults', () => {
  const first = { question: 0, steps: 10, seed: 1, trained: [], weights: '', reward: '', environment: '' };
  for (const hash of ['', '#', '#%', '#question=-1&steps=0&seed=x', '#steps=1e9&question=1.5&other=2'])
    expect(readSetup(hash)).toEqual(first);
  // Trainings that a reader cannot set, and weights that are no name.
  for (const trained of ['8', '0.1', '201.1', '8.1_', '150.1_51.1', '8.99999999999', 'x.y'])
    expect(readSetup(`#trained=${trained}&weights=<b>`)).toEqual(first);
  expect(readSetup('#trained=8.1_4.2').trained).toEqual([
    { steps: 8, seed: 1 },
    { steps: 4, seed: 2 },
  ]);
  expect(writeSetup(first)).toBe('#');
});

test('what cannot be read is named with its line, and nothing runs', () => {
  expect(syntaxMistake(environmentExample)).toBeUndefined();
  expect(
    syntaxMistake('export default () => { throw new Error("ran"); };\nthrow new Error("ran");'),
  ).toBeUndefined();
  expect(syntaxMistake('const a = 1;\nconst b = (;\n')).toEqual({ line: 2, message: 'Unexpected token' });
  expect(syntaxMistake('const a = "')).toEqual({ line: 1, message: 'Unterminated string constant' });
});

test('types are removed, imports come from the tab, and mistakes say what to do', () => {
  expect(
    defaultExport(
      "import { taskSet } from '@toolenv/core';\nexport default (taskSet as unknown) !== undefined;",
    ),
  ).toBe(true);
  expect(() => defaultExport("import 'node:fs';\nexport default 1;")).toThrow(
    'node:fs is not in the tab: import @toolenv/core',
  );
  expect(() => defaultExport('const a = 1;')).toThrow('begin with "export default"');
  expect(() => defaultExport('export default (;')).toThrow(/Unexpected token/);
  expect(() => rewardFunction('export default 1;')).toThrow('The reward is not a function');
  expect(() => environmentDefinition('export default {};')).toThrow('defineToolEnv');
});

test('the example of an environment can be won, and the examples of rewards reward', async () => {
  const definition = environmentDefinition(environmentExample);
  await using own = await openEnv(definition, {}, { seed: 1 });
  const first = await own.tasks.test.get(0);
  expect((await playTask(own, first, definition.oracle!(first)!)).rewards).toMatchObject({ opened: 1 });
  expect((await playTask(own, first, [])).reward).toBe(0);
  const safe = withReward(own, rewardFunction(safeRewardExample));
  const { code: right } = first as { code: number };
  const tries = [500, right].map((code) => [{ name: 'try_code', arguments: { code } }]);
  // The first try rules out a part of the codes, and the second the rest of them: the steps' scores are summed.
  const { reward, rewards } = await playTask(safe, first, [...tries, String(right)]);
  expect(rewards.narrowed).toBeGreaterThan(1);
  expect(reward).toBeCloseTo(1 + 0.1 * rewards.narrowed!, 9);
  await using env = await openEnv(bridge, { topK: 2 }, { seed: 1, tools: { search } });
  const task = await env.tasks.test.get(0);
  const turns = bridge.oracle!(task)!;
  const ofExample = withReward(env, rewardFunction(rewardExample));
  expect((await playTask(ofExample, task, turns)).reward).toBeCloseTo(1 - 0.1 * 2, 9);
  for (const [code, problem] of [
    [
      'export default () => Number.NaN;',
      'Your reward returned NaN: return a number from −100 to 100. The scores are em,',
    ],
    ['export default () => "1";', 'Your reward returned 1'],
    ['export default () => { throw new Error("no"); };', 'Your reward failed: no'],
  ] as const) {
    const broken = withReward(env, rewardFunction(code));
    await expect(playTask(broken, task, turns)).rejects.toThrow(problem);
  }
});
