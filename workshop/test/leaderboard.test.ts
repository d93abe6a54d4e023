/** The leaderboard's table, its findings and its baselines. */
import { openEnv, type Policy, rollout, scriptedPolicy } from '@toolenv/core';
import { expect, test } from 'vitest';
import { naiveRag } from '../leaderboard/baselines.ts';
import { findings } from '../leaderboard/findings.ts';
import { barChart, markdown } from '../leaderboard/report.ts';
import type { Result } from '../leaderboard/results.ts';
import { summarise } from '../leaderboard/summary.ts';

const result = (row: string, seed: number, em: [number, number, number]): Result => ({
  row,
  seed,
  steps: 80,
  count: 256,
  seconds: 1,
  scores: {
    bridge: { em: em[0], f1: 1 },
    comparison: { em: em[1], f1: 1 },
    compose: { em: em[2], f1: 1 },
  },
});

test('summarises results by mean and deviation over seeds, with rows in the order of the table', () => {
  const rows = summarise([
    result('GRPO', 1, [0.5, 0.4, 0.3]),
    result('GRPO', 2, [0.7, 0.4, 0.1]),
    result('Naive RAG', 1, [0.1, 0.2, 0.3]),
  ]);
  expect(rows.map(({ name, seeds }) => [name, seeds])).toEqual([
    ['Naive RAG', [1]],
    ['GRPO', [1, 2]],
  ]);
  const { bridge, comparison, average } = rows[1]!.scores;
  expect(bridge.em.mean).toBeCloseTo(0.6, 12);
  expect(bridge.em.deviation).toBeCloseTo(Math.sqrt(0.02), 12);
  expect(comparison.em).toEqual({ mean: 0.4, deviation: 0 });
  expect(average.em.mean).toBeCloseTo(0.4, 12);
  expect(average.em.deviation).toBeCloseTo(0, 12);
  expect(markdown(rows, { steps: 80, count: 256, seeds: 2 })).toContain(
    '| GRPO | 0.600 ± 0.141 | 1.000 ± 0.000 |',
  );
  expect(barChart(rows).match(/<rect/g)).toHaveLength(2);
});

test('reports findings only beyond the spread', () => {
  const rows = summarise([
    result('Base Tool Call', 1, [0.1, 0.1, 0.1]),
    result('Naive RAG', 1, [0.05, 0.1, 0.3]),
    result('Naive RAG', 2, [0.15, 0.1, 0.3]),
    result('PPO', 1, [0.4, 0.4, 0.4]),
    result('GRPO', 1, [0.5, 0.4, 0.3]),
    result('GRPO', 2, [0.7, 0.4, 0.3]),
    result('PPO without action mask', 1, [0.4, 0.3, 0.4]),
    result('GRPO without both masks', 1, [0.5, 0.4, 0.3]),
  ]);
  expect(findings(rows).split('\n')).toEqual([
    // On compose, GRPO and Naive RAG are equal.
    '- Of 12 comparisons of an agent with a baseline on a dataset, the agent is better beyond the spread in 11.',
    '- The best average EM is 0.433, of GRPO: 2.6 times the 0.167 of Naive RAG.',
    '- PPO without action mask: average EM 0.367 ± 0.000, PPO 0.400 ± 0.000: worse beyond the spread.',
    '- GRPO without both masks: average EM 0.400 ± 0.000, GRPO 0.433 ± 0.047: not worse beyond the spread.',
  ]);
});

test.each(['result of a search', 'before the question', 'after the question'] as const)(
  'naive RAG searches once for the question and takes the model’s answer (documents: %s)',
  async (placement) => {
    const env = await openEnv('@toolenv/envs-qa/lookup-v1', { topK: 2 });
    const task = env.tasks.test.get(0) as { question: string; answer: string };
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
    const policy = naiveRag(watched, placement);
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
    expect(documents > question).toBe(placement !== 'before the question');
    expect(seen[0]!.includes('tool: ')).toBe(placement === 'result of a search');
    await env.close();
  },
);
