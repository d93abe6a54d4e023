/** The leaderboard's intervals, pages and baselines. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { collect, openEnv, type Policy, rollout, scriptedPolicy } from '@toolenv/core';
import { baselinePolicy } from '@toolenv/training';
import { expect, test } from 'vitest';
import { newFolder } from '../../workshop/test/new-folder.ts';
import { searchOf } from '../failures/failing-search.ts';
import { playDemonstrator } from '../leaderboard/baselines.ts';
import { barChart } from '../leaderboard/chart.ts';
import { comparisons, differenceTable } from '../leaderboard/comparisons.ts';
import { closeDatasets, openDatasets, score, trainingEnv } from '../leaderboard/datasets.ts';
import { pageOf } from '../leaderboard/page.ts';
import { courseOf } from '../leaderboard/play-row.ts';
import type { Result } from '../leaderboard/results.ts';
import { experimentOf, folderOf, resultsOf } from '../leaderboard/results.ts';
import { studies } from '../leaderboard/studies.ts';
import { type Agent, type Study, testQuestionsOf, tuningOf, tuningSeed } from '../leaderboard/study.ts';
import { summarise } from '../leaderboard/summary.ts';
import { priceCurve } from '../price/curve.ts';
import { priceSections } from '../price/utility.ts';
import { digestOf } from '../shared/digest.ts';
import { differenceText, direction, estimate, estimateText, pairedDifference } from '../shared/intervals.ts';
import { readResults } from '../shared/result-file.ts';

const study: Study = studies.table;

const result = (row: string, seed: number, em: [number, number]): Result => ({
  study: 'table',
  row,
  seed,
  count: 256,
  settings: {},
  policy: '0',
  commit: '1234567890',
  steps: 80,
  stepsInAll: 130,
  seconds: 60,
  scores: {
    bridge: { em: em[0], f1: 1 },
    comparison: { em: em[1], f1: 1 },
  },
});

// scipy.stats.t.interval(0.95, 4, loc=0.5, scale=scipy.stats.sem([0.4, 0.45, 0.5, 0.55, 0.6])) and ttest_1samp(...).confidence_interval()
test('intervals are those of Student’s t', () => {
  const five = estimate([0.4, 0.45, 0.5, 0.55, 0.6]);
  expect(five.mean).toBeCloseTo(0.5, 12);
  expect(five.low).toBeCloseTo(0.401838, 5);
  expect(five.high).toBeCloseTo(0.598162, 5);
  expect(estimateText(five)).toBe('0.500 [0.402, 0.598]');
  expect(estimateText(estimate([0.98, 1]))).toBe('0.990 [0.863, 1.000]');
  const two = estimate([0, 1]);
  expect(two.low).toBeCloseTo(0.5 - 12.7062 * 0.5, 3);
  expect(estimate([0.3])).toEqual({ mean: 0.3, low: null, high: null });
  expect(() => estimate([])).toThrow(RangeError);
});

test('differences are paired by world', () => {
  const a = new Map([
    [1, 0.5],
    [2, 0.9],
    [3, 0.1],
  ]);
  const b = new Map([
    [1, 0.4],
    [2, 0.8],
    [4, 0.9],
  ]);
  // Worlds 1 and 2 only; both differ by 0.1, however far apart the worlds are.
  const difference = pairedDifference(a, b)!;
  expect(difference.mean).toBeCloseTo(0.1, 12);
  expect(difference.high! - difference.low!).toBeCloseTo(0, 12);
  expect(direction(difference)).toBe(1);
  expect(differenceText(difference)).toBe('+0.100 [+0.100, +0.100]');
  expect(pairedDifference(new Map([[1, 0]]), new Map([[2, 0]]))).toBeUndefined();
});

test('rows are summarised over worlds, in the order of the study', () => {
  const results = [
    result('GRPO', 1, [0.5, 0.3]),
    result('GRPO', 2, [0.7, 0.1]),
    result('Naive RAG', 1, [0.1, 0.2]),
  ];
  const rows = summarise(study, results);
  expect(rows.map(({ name, seeds }) => [name, seeds])).toEqual([
    ['Naive RAG', [1]],
    ['GRPO', [1, 2]],
  ]);
  expect(rows[1]!.em.bridge!.mean).toBeCloseTo(0.6, 12);
  expect(rows[1]!.average.em.mean).toBeCloseTo(0.4, 12);
  expect(rows[1]!.steps).toBe(80);
  expect(pageOf(study, results, [])).toContain(
    '| GRPO | 0.600 [0.000, 1.000] | 0.200 [0.000, 1.000] | 0.400 [0.400, 0.400] | 1.000 | 80 |',
  );
  expect(barChart(study, rows).match(/<rect/g)).toHaveLength(2);
});

test('a sentence says better or worse only where the interval excludes 0', () => {
  const compared = { ...study, references: ['Naive RAG', 'GRPO'] };
  const rows = summarise(compared, [
    result('Naive RAG', 1, [0.1, 0.1]),
    result('Naive RAG', 2, [0.2, 0.2]),
    result('PPO', 1, [0.4, 0.4]),
    result('PPO', 2, [0.51, 0.51]),
    result('GRPO', 1, [0.3, 0.3]),
    result('GRPO', 2, [0.19, 0.19]),
    result('RLOO', 1, [0, 0]),
    result('RLOO', 2, [0.1, 0.1]),
  ]);
  expect(comparisons(compared, rows).split('\n')).toEqual([
    '- Compared with Naive RAG: better: PPO; worse: RLOO; not told apart: GRPO.',
    '- Compared with GRPO: not told apart: PPO, RLOO.',
  ]);
  const table = differenceTable(compared, rows);
  expect(table).toContain('| PPO | **+0.305 [+0.241, +0.369]** | +0.210 [−1.188, +1.608] |');
  expect(table).toContain('| GRPO | +0.095 [−1.239, +1.429] |  |');
  expect(table).toContain('| RLOO | **−0.100 [−0.100, −0.100]** | −0.195 [−1.529, +1.139] |');
});

test('utility is the exact match minus the price of the searches, and rows with another price are no competitors', () => {
  const price: Study = { ...studies.price, scoredOn: ['lookup', 'bridge'], prices: [0.25, 0.6] };
  const row = (name: string, seed: number, em: number, searches: number): Result => {
    const scores = { lookup: { em, f1: em, searches: 1 }, bridge: { em, f1: em, searches } };
    return { ...result(name, seed, [0, 0]), study: 'price', scores, sampled: scores };
  };
  const results = [
    row('Start', 1, 0.5, 3),
    row('Start', 2, 0.6, 3),
    row('GRPO', 1, 1, 2),
    row('GRPO', 2, 1, 2),
    row('GRPO scaled by the batch at 0.6', 1, 0.9, 0),
  ];
  const [atQuarter, atMore] = priceSections(price, results).split('## At 0.6');
  // .55 − .25 × (1 + 3) / 2
  expect(atQuarter).toContain(
    '| Start | 0.050 [−0.585, 0.685] | 0.050 [−0.585, 0.685] | 0.550 | 1.00 | 0.550 | 3.00 |',
  );
  expect(atQuarter).toContain('| GRPO | 0.625 [0.625, 0.625] |');
  expect(atQuarter).toContain('| GRPO | +0.575 [−0.060, +1.210] |');
  expect(atQuarter).not.toContain('at 0.6 |');
  // .55 − .6 × 2
  expect(atMore).toContain('| Start | −0.650 ');
  expect(atMore).toContain('| GRPO scaled by the batch at 0.6 | 0.600 (one seed) |');
  expect(atMore).not.toContain('| GRPO |');
  // Half a search on average, and an exact match of .9.
  expect(priceCurve(price, results)).toContain('<circle cx="155.5" cy="72" r="4" ');
});

test('three searches of ten return nothing, and the demonstrator repeats them', async () => {
  const { failures, maxTurns } = studies.failures;
  const open = await openDatasets(['bridge'], 1, { maxTurns, search: searchOf({ failures }) });
  const run = { count: 64, seed: 1, signal: new AbortController().signal };
  const { em, searches, recovery } = (await playDemonstrator(open, ['bridge'], run)).scores.bridge!;
  await closeDatasets(open);
  const { episodes, right, failed, repeated } = recovery!;
  // Two searches of an episode succeed, and 3 / 7 as many fail: of 64 episodes, one may lack a seventh search.
  expect(64 * searches! - failed).toBeGreaterThanOrEqual(127);
  expect(failed).toBeGreaterThan(40);
  expect(failed).toBeLessThan(75);
  expect(failed - repeated).toBeLessThanOrEqual(1);
  expect(episodes - right).toBeLessThanOrEqual(1);
  expect(em).toBeGreaterThan(0.98);
});

test('comparisons are scored by sort of question', async () => {
  const open = await openDatasets(['comparison'], 1);
  const run = { count: 40, seed: 1, signal: new AbortController().signal, split: 'test' } as const;
  const policy = scriptedPolicy(() => '<answer>yes</answer>');
  const { em, sorts } = await score(open.comparison!, policy, run);
  await closeDatasets(open);
  const { 'yes or no': decided, 'which of two': named } = sorts!;
  expect(decided!.count + named!.count).toBe(40);
  expect(named!.em).toBe(0);
  expect(decided!.em * decided!.count).toBeCloseTo(40 * em, 9);
  expect(em).toBeGreaterThan(0);
});

test('agents that know the price are paid by it', async () => {
  const open = await openDatasets(['lookup'], 1);
  const env = trainingEnv(open, ['lookup'], { price: 0.25, seed: 1 });
  const task = (await open.lookup!.tasks.train.get(0)) as { question: string; answer: string };
  const policy = scriptedPolicy((_, turn) =>
    turn < 2 ? [{ name: 'search', arguments: { query: task.question } }] : `<answer>${task.answer}</answer>`,
  );
  const episodes = [{ task: env.tasks.train.get(0), group: 0, sample: 0 }];
  const sampling = { maxTokens: 64, temperature: 0 };
  const [played] = await collect(rollout({ env, policy, episodes, concurrency: 1, sampling, seed: 1 }));
  expect(played!.rewards).toMatchObject({ em: 1, searches: 2 });
  expect(played!.reward).toBeCloseTo(1 - 2 * 0.25, 12);
  await closeDatasets(open);
});

test('a run is told by its best evaluation, and by its first and last step', async () => {
  const folder = await newFolder();
  const rolloutOf = (step: number, surprise: number) => ({
    type: 'rollout',
    step,
    metrics: { 'rollout_corr/rollout_log_ppl': surprise },
  });
  const updateOf = (step: number, metrics: object) => ({
    type: 'update',
    step,
    metrics: { step_time: 2.4, ...metrics },
  });
  const lines = [
    rolloutOf(1, 0.5),
    // The critic learns alone.
    updateOf(1, {}),
    rolloutOf(2, 0.4),
    updateOf(2, { grad_norm: 3 }),
    { type: 'evaluation', step: 2, metrics: { 'rewards/em/mean': 0.7 } },
    rolloutOf(3, 0.3),
    updateOf(3, { grad_norm: 1 }),
    { type: 'evaluation', step: 3, metrics: { 'rewards/em/mean': 0.6 } },
  ];
  await writeFile(join(folder, 'metrics.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const course = {
    stepsInAll: 3,
    seconds: 7,
    firstGradNorm: 3,
    logPerplexity: { first: 0.5, last: 0.3 },
  };
  expect(await courseOf(folder, studies.table)).toEqual({ ...course, steps: 2, validation: 0.7 });
  expect(await courseOf(folder, studies.masks)).toEqual({ ...course, steps: 3 });

  const played = { ...result('PPO', 1, [1, 1]), ...course };
  const other = { ...played, seed: 2, firstGradNorm: 5 };
  expect(pageOf(studies.masks, [played, other], [])).toContain(
    '| PPO | 4.00 (3.00 to 5.00) | 0.50 (0.50 to 0.50) | 0.30 (0.30 to 0.30) |',
  );
});

const benchmarks = join(import.meta.dirname, '../../docs/benchmarks');
const known = await readResults<Result>(join(benchmarks, 'leaderboard.jsonl'));

const worldsOf = ({ worlds = 5 }: Study) => Array.from({ length: worlds }, (_, index) => index + 1);

/** The digest of the policy that a study begins with. That of `runs` is not in the repository. */
async function policyOf({ name, policy }: Study): Promise<string> {
  if (!policy.startsWith('runs/')) return digestOf(policy);
  return known.findLast((result) => result.study === name)!.policy;
}

/** The studies that have been measured, in part or as a whole. */
const measured = Object.values<Study>(studies).filter(({ name }) =>
  known.some((each) => each.study === name),
);

/** The studies with a page: all rows have been measured in all worlds. */
const whole = measured.filter((each) =>
  each.rows.every((row) =>
    worldsOf(each).every((seed) =>
      known.some((result) => result.study === each.name && result.row === row.name && result.seed === seed),
    ),
  ),
);

test('there are pages of measured studies', () => {
  expect(whole.map(({ name }) => name)).toContain('budget');
});

test.each(whole)('the page of $name is made from the results in the repository', async (each) => {
  const setting = { policy: await policyOf(each), count: testQuestionsOf(each) };
  const results = resultsOf(each, worldsOf(each), setting, known);
  const tuning = resultsOf(tuningOf(each), [tuningSeed], setting, known);
  expect(results.length).toBeGreaterThan(0);
  expect(await readFile(join(benchmarks, `${each.name}.md`), 'utf8')).toBe(pageOf(each, results, tuning));
});

test.each(measured)('the learning rates of $name are the best that were tried', async (each) => {
  const setting = { policy: await policyOf(each), count: testQuestionsOf(each) };
  const tuned = each.rows.filter((row) => 'rates' in row && row.rates !== undefined);
  for (const { name, options, rates } of tuned as Agent[]) {
    const tuning = tuningOf(each);
    const rows = tuning.rows.filter((row) => row.name.startsWith(`${name} at `));
    const tried = resultsOf({ ...tuning, rows }, [tuningSeed], setting, known);
    expect(tried, name).toHaveLength(rates!.length);
    const best = tried.reduce((a, b) => (b.validation! > a.validation! ? b : a));
    expect(best.settings.learningRate, name).toBe(options.learningRate);
  }
});

test.each(['result', 'before', 'after'] as const)(
  'naive RAG searches once for the question and takes the model’s answer (documents: %s)',
  async (placement) => {
    const env = await openEnv('@toolenv/envs-qa/lookup-v1', { topK: 2 });
    const task = (await env.tasks.test.get(0)) as { question: string; answer: string };
    const model: Policy = scriptedPolicy(() => `<answer>${task.answer}</answer>`);
    const seen: string[] = [];
    const watched: Policy = {
      spec: model.spec,
      act(observation, options) {
        seen.push(observation.messages.map(({ role, content }) => `${role}: ${content}`).join('\n'));
        return model.act(observation, options);
      },
    };
    const sampling = { maxTokens: 64, temperature: 0 };
    const episodes = [{ task, group: 0, sample: 0 }];
    const policy = baselinePolicy('naive-rag', watched, { placement });
    for await (const { steps, rewards } of rollout({
      env,
      policy,
      episodes,
      concurrency: 1,
      sampling,
      seed: 1,
    })) {
      expect(steps[0]!.action.toolCalls).toMatchObject([
        { name: 'search', arguments: { query: task.question } },
      ]);
      expect(steps).toHaveLength(2);
      expect(rewards.em).toBe(1);
    }
    expect(seen).toHaveLength(1);
    const documents = seen[0]!.indexOf(`${task.answer}`);
    const question = seen[0]!.indexOf(task.question);
    expect(documents).toBeGreaterThan(-1);
    expect(documents > question).toBe(placement !== 'before');
    expect(seen[0]!.includes('tool: ')).toBe(placement === 'result');
    await env.close();
  },
);

test('a run has a folder of its own for each setting of its row', () => {
  const { table } = studies;
  const row = table.rows.find(({ name }) => name === 'GRPO') as Agent;
  const setting = { policy: '44d7ca19faaa', count: 256 };
  const folder = (each: Agent, seed = 1) => folderOf(experimentOf(table, each, seed, setting));
  const faster = { ...row, options: { ...row.options, learningRate: 1e-3 } };
  expect(folder(row)).toMatch(/^table-grpo-1-[0-9a-f]{8}$/);
  expect(new Set([folder(row), folder({ ...row }), folder(faster), folder(row, 2)]).size).toBe(3);
});

test('a study without its policy says what makes the policy', async () => {
  await expect(digestOf('runs/none')).rejects.toThrow(
    'runs/none has no policy. npm run tiny-policy makes it',
  );
});
