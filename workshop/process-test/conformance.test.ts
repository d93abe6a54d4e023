/** The parts of this repository follow the rules of its spec. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { collect, openEnv, type RewardSpec, rollout, scriptedPolicy } from '@toolenv/core';
import { listPlugins, loadPlugin } from '@toolenv/core/plugins';
import { encodeTrajectory } from '@toolenv/core/recording';
import { timeLimit, transformReward, truncateHistory, windowObservation } from '@toolenv/core/wrappers';
import { bridgeQuestions, createQuestions, createWorld, writeRecords } from '@toolenv/envs-qa';
import bridge from '@toolenv/envs-qa/bridge-v1';
import { loadPolicy } from '@toolenv/policy';
import {
  assertConforms,
  checkEnv,
  checkLearner,
  checkPlugin,
  checkPolicy,
  checkTool,
  checkTrainer,
  checkTrajectory,
  type RuleId,
} from '@toolenv/testing';
import search from '@toolenv/tools-search/search-v1';
import { beforeAll, describe, expect, test } from 'vitest';
import { toMusique, toMusiqueFull, worldRecords } from '../datasets/world-dataset.ts';
import { newFolder } from '../test/new-folder.ts';

const root = join(import.meta.dirname, '../..');
const folder = await newFolder();
let records: string;
let hops: string;
let allHops: string;

beforeAll(async () => {
  records = join(folder, 'records.json');
  await writeRecords(records, createQuestions(bridgeQuestions, createWorld(1), 'validation', 60));
  const items = worldRecords([bridgeQuestions], { seed: 1, split: 'validation', count: 60 });
  const lines = (values: readonly object[]) => values.map((value) => JSON.stringify(value)).join('\n');
  hops = join(folder, 'hops.jsonl');
  await writeFile(hops, lines(items.map(toMusique)));
  allHops = join(folder, 'all-hops.jsonl');
  await writeFile(allHops, lines(items.flatMap(toMusiqueFull)));
});

describe('environments', () => {
  const envs: [ref: string, unchecked: RuleId[], options: () => Record<string, unknown>][] = [
    ['@toolenv/envs-code/code-v1', [], () => ({})],
    ['@toolenv/envs-code/math-v1', [], () => ({})],
    ['@toolenv/envs-code/terminal-v1', [], () => ({})],
    // Questions in a file may name the answer.
    ['@toolenv/envs-qa/2wikimultihopqa-v1', ['ENV-15'], () => ({ path: records })],
    ['@toolenv/envs-qa/bridge-v1', [], () => ({})],
    // Answers are yes or no.
    ['@toolenv/envs-qa/claims-v1', ['ENV-15'], () => ({})],
    // Its questions name the answer as one of two choices.
    ['@toolenv/envs-qa/comparison-v1', ['ENV-15'], () => ({})],
    ['@toolenv/envs-qa/compose-v1', [], () => ({})],
    ['@toolenv/envs-qa/hotpotqa-v1', ['ENV-15'], () => ({ path: records })],
    ['@toolenv/envs-qa/lookup-v1', [], () => ({})],
    ['@toolenv/envs-qa/musique-full-v1', ['ENV-15'], () => ({ path: allHops })],
    ['@toolenv/envs-qa/musique-v1', ['ENV-15'], () => ({ path: hops })],
  ];
  test('are all tested', () => {
    const installed = listPlugins(root).filter(
      ({ kind, ref }) => kind === 'envs' && ref.startsWith('@toolenv/'),
    );
    // The tests of envs-classic, nemo-gym, openenv, ors and verifiers check theirs, and those of envs-harbor check theirs where there are containers. An episode
    // of envs-mcp starts a process: `npm run conformance` checks it.
    const elsewhere = /^@toolenv\/(envs-(classic|harbor|mcp)|nemo-gym|openenv|ors|verifiers)\//;
    const quick = installed.map(({ ref }) => ref).filter((ref) => !elsewhere.test(ref));
    expect(envs.map(([ref]) => ref)).toEqual(quick.sort());
  });

  test.each(envs)('%s', async (ref, unchecked, options) => {
    const check = checkEnv(ref, { options: options(), actions: ref.includes('/envs-code/') ? 40 : 200 });
    const { skipped, passed } = await assertConforms(check);
    expect(skipped.map(({ rule }) => rule)).toEqual(unchecked);
    expect(passed.length).toBe(39 - unchecked.length);
  });
});

test('a wrapped environment', async () => {
  const rewards: RewardSpec = { ...bridge.rewards, thrift: { kind: 'process', range: [-1, 0], weight: 0.1 } };
  const wrapped: typeof bridge = {
    ...bridge,
    rewards,
    async open(options) {
      const limited = timeLimit(await bridge.open(options), { turns: 5, milliseconds: 60_000 });
      const thrifty = transformReward(limited, {
        rewards,
        transform: (own, { calls }) => ({ ...own, thrift: calls.length > 1 ? -1 : 0 }),
      });
      const summarize = (dropped: readonly unknown[]) => `${dropped.length} messages were left out.`;
      return truncateHistory(windowObservation(thrifty, { turns: 2, summarize }), { characters: 4000 });
    },
  };
  const { passed } = await assertConforms(checkEnv(wrapped, { actions: 200, from: root }));
  expect(passed.length).toBe(39);
});

test('the search tool', async () => {
  const { skipped } = await assertConforms(checkTool(search));
  expect(skipped).toEqual([]);
});

test('the policy and its learner', async () => {
  await using policy = await loadPolicy(join(root, 'packages/checkpoints/tiny'));
  const ofPolicy = await assertConforms(checkPolicy(policy));
  // Its prompts name no tools, because it knows its tools.
  expect(ofPolicy.skipped.map(({ rule }) => rule)).toEqual(['POL-14']);
  const ofLearner = await assertConforms(checkLearner(policy.learner, { vocabulary: 200 }));
  expect(ofLearner.skipped).toEqual([]);
});

test('a policy that is told its tools', async () => {
  await using policy = await loadPolicy(join(root, 'packages/checkpoints/small'));
  const { skipped } = await assertConforms(checkPolicy(policy));
  expect(skipped).toEqual([]);
});

test.each(['grpo/gigpo', 'grpo/grpo', 'ppo/ppo'])('the trainer %s', async (name) => {
  const trainer = await loadPlugin('trainers', `@toolenv/trainer-${name}-v1`, { from: root });
  const { skipped } = await assertConforms(checkTrainer(trainer));
  expect(skipped).toEqual([]);
});

test('the trainer gepa, which improves prompts', async () => {
  const trainer = await loadPlugin('trainers', '@toolenv/trainer-gepa/gepa-v1', { from: root });
  const { skipped } = await assertConforms(checkTrainer(trainer));
  expect(skipped.map(({ rule }) => rule)).toEqual(['TRN-10']);
});

test('trajectories of a rollout', async () => {
  await using env = await openEnv(bridge, {}, { from: root });
  const policy = scriptedPolicy(({ messages }, turn) =>
    turn === 0 ? [{ name: 'search', arguments: { query: messages[1]!.content } }] : '<answer>x</answer>',
  );
  const episodes = [0, 1, 2, 3].map((group) => ({ task: env.tasks.test.get(group), group, sample: 0 }));
  const sampling = { maxTokens: 9, temperature: 0 };
  const trajectories = await collect(rollout({ env, policy, episodes, concurrency: 4, sampling, seed: 1 }));
  expect(trajectories.length).toBe(4);
  for (const trajectory of trajectories) {
    await assertConforms(checkTrajectory(trajectory));
    await assertConforms(checkTrajectory(encodeTrajectory(trajectory)));
  }
});

test.each([
  'envs-classic',
  'envs-code',
  'envs-harbor',
  'envs-mcp',
  'envs-qa',
  'openenv',
  'ors',
  'policy',
  'sandbox',
  'tools-code',
  'tools-search',
  'trainer-gepa',
  'trainer-distill',
  'trainer-es',
  'trainer-grpo',
  'trainer-ppo',
  'trainer-sft',
])('the plugins of packages/%s', async (name) => {
  const { skipped } = await assertConforms(checkPlugin(join(root, 'packages', name)));
  expect(skipped).toEqual([]);
});
