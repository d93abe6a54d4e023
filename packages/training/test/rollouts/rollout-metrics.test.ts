/** What a rollout reports, in numbers that can be counted by hand. */
import {
  type ToolCallRecord,
  ToolEnvError,
  type Trajectory,
  type TrajectoryStep,
  type TurnUsage,
} from '@toolenv/core';
import { expect, test } from 'vitest';
import { rolloutMetrics } from '../../src/rollouts/rollout-metrics.ts';

const call = (part: Partial<ToolCallRecord> = {}): ToolCallRecord => ({
  call: { id: '1', name: 'search', arguments: {} },
  text: '',
  milliseconds: 1,
  ...part,
});
const mistaken = (code: NonNullable<ToolCallRecord['mistake']>['code']) =>
  call({ mistake: { code, path: '', expected: '', received: '', hint: '' } });
const failed = call({ result: { content: [], isError: true } });

/** A turn of some tokens, each with probability 1/e. */
function turn(
  tokens: number,
  calls: ToolCallRecord[] = [],
  stopReason: 'stop' | 'length' = 'stop',
): TrajectoryStep {
  return {
    observation: { messages: [], tools: [] },
    action: {
      text: '',
      toolCalls: [],
      stopReason,
      tokens: {
        prompt: Int32Array.of(1),
        action: new Int32Array(tokens).fill(2),
        logprobs: new Float32Array(tokens).fill(-1),
      },
    },
    calls,
    info: {},
  };
}

function episode(group: number, reward: number | null, part: Partial<Trajectory>): Trajectory {
  return {
    version: 1,
    env: 'ladder-v1',
    policy: 'table',
    episodeId: '1',
    index: 0,
    task: null,
    group,
    sample: 0,
    seed: 1,
    rewardSpec: { em: { kind: 'outcome', range: [0, 1], weight: 1 } },
    steps: [],
    outcome: { kind: 'terminated', reason: 'answered' },
    rewards: { em: reward },
    reward,
    ...part,
  };
}

const trajectories = [
  episode(0, 1, { steps: [turn(4, [call(), mistaken('unknown_tool')]), turn(2)] }),
  episode(0, 0, {
    steps: [turn(8, [failed, mistaken('malformed_call')], 'length')],
    outcome: { kind: 'truncated', reason: 'max_turns' },
  }),
  episode(1, 1, { steps: [turn(3), turn(3), turn(4)] }),
  episode(1, 1, { steps: [turn(6)], rewards: { em: null } }),
  episode(1, null, {
    steps: [turn(5)],
    rewards: { em: null },
    outcome: { kind: 'aborted', cause: new ToolEnvError('infrastructure.server', 'gone'), retryable: true },
  }),
];

test('an episode that nothing scored enters no mean of a reward, and is counted', () => {
  const unscored = episode(0, null, { steps: [turn(3), turn(3)] });
  const metrics = rolloutMetrics([trajectories[0]!, unscored], { rollout: 1 });
  expect(metrics).toMatchObject({ reward: 1, episodes: 2, aborted: 0, unscored: 1, 'num_turns/mean': 2 });
  expect(metrics['tools/unused_ratio']).toBeUndefined();
  expect(rolloutMetrics([trajectories[0]!], { rollout: 1 })).not.toHaveProperty('unscored');
});

test('counts rewards, turns, tokens, ends and mistakes', () => {
  const metrics = rolloutMetrics(trajectories, { rollout: 7, environment: 2.5 });
  expect(metrics).toMatchObject({
    reward: 3 / 4,
    // √½ in the first group, 0 in the second.
    reward_std: expect.closeTo(Math.SQRT1_2 / 2, 12),
    // 1, 0 and 1.
    'rewards/em/mean': 2 / 3,
    'rewards/em/std': expect.closeTo(Math.sqrt(1 / 3), 12),
    frac_reward_zero_std: 1 / 2,
    episodes: 5,
    aborted: 1,
    'response/aborted_ratio': 1 / 5,
    'completions/clipped_ratio': 1 / 4,
    'truncated/max_turns': 1 / 4,
    'truncated/deadline': 0,
    'num_turns/mean': 7 / 4,
    'num_turns/min': 1,
    'num_turns/max': 3,
    'completions/mean_length': 30 / 4,
    'completions/min_length': 6,
    'completions/max_length': 10,
    'tokens_per_turn/mean': 30 / 7,
    'tokens_per_turn/max': 8,
    'tokens_per_turn/clipped_ratio': 1 / 7,
    generated_tokens: 35,
    'tools/call_frequency': 1,
    // As TRL: of the calls, not of the episodes.
    'tools/failure_frequency': 3 / 4,
    'mistakes/unknown_tool': 1 / 4,
    'mistakes/malformed_call': 1 / 4,
    'mistakes/tool_error': 1 / 4,
    'mistakes/invalid_arguments': 0,
    'rollout_corr/rollout_log_ppl': 1,
    'time/rollout': 7,
    'time/environment': 2.5,
    'time/generation': 4.5,
    'tokens_per_second/generation': 5,
  });
});

test('errors are counted by tool, and only for tools that answered', () => {
  const made = call({ call: { id: '1', name: 'made_up', arguments: {} } });
  const found = call({ result: { content: [] } });
  const other = call({ call: { id: '1', name: 'read', arguments: {} }, result: { content: [] } });
  const played = [
    episode(0, 1, { steps: [turn(4, [failed, found]), turn(4, [failed, made])] }),
    episode(0, 0, { steps: [turn(4, [failed, other])] }),
  ];
  const metrics = rolloutMetrics(played, { rollout: 1, environment: 0 });
  expect(metrics).toMatchObject({
    'tools/search/call_frequency': 4 / 2,
    'tools/search/error_frequency': 3 / 4,
    'tools/read/call_frequency': 1 / 2,
    'tools/read/error_frequency': 0,
  });
  expect(Object.keys(metrics).filter((name) => name.includes('made_up'))).toEqual([]);
});

test('episodes that call no tool are compared only where there are tools', () => {
  const tool = { name: 'search', description: '', inputSchema: {} };
  const offered = (step: TrajectoryStep) => ({ ...step, observation: { messages: [], tools: [tool] } });
  const elsewhere = { ...turn(4), action: { ...turn(4).action, toolCalls: [call().call] } };
  const rewardSpec = {
    em: { kind: 'outcome', range: [0, 1], weight: 2 },
    found: { kind: 'process', range: [0, 1], weight: 1 },
  } as const;
  const rewards = { em: 0.5, found: 1 };
  const played = [
    episode(0, 1, { steps: [offered(turn(4, [call()])), offered(turn(4))] }),
    episode(0, 2, { steps: [offered(turn(4))], rewardSpec, rewards }),
    episode(0, 1, { steps: [offered(turn(4))] }),
    // An agent runs its tools itself.
    episode(0, 1, { steps: [offered(elsewhere)] }),
    episode(1, 0, { steps: [turn(4)] }),
  ];
  const metrics = rolloutMetrics(played, { rollout: 1, environment: 0 });
  expect(metrics).toMatchObject({ 'tools/unused_ratio': 2 / 4, 'tools/unused_outcome': (2 * 0.5 + 1) / 2 });
  expect(rolloutMetrics(played.slice(4), { rollout: 1, environment: 0 })).not.toHaveProperty(
    'tools/unused_ratio',
  );
  expect(rolloutMetrics(played.slice(0, 1), { rollout: 1, environment: 0 })).toMatchObject({
    'tools/unused_ratio': 0,
  });
});

test('a batch without groups has the deviation of its episodes', () => {
  const [first, second] = [episode(0, 0, {}), episode(1, 1, {})];
  const metrics = rolloutMetrics([first, second], { rollout: 1, environment: 0 });
  expect(metrics.reward_std).toBeCloseTo(Math.SQRT1_2, 12);
  expect(metrics).not.toHaveProperty('frac_reward_zero_std');
});

test('without a scored episode there is no reward, and every number is finite', () => {
  const metrics = rolloutMetrics(trajectories.slice(4), { rollout: 1, environment: 0 });
  expect(metrics).not.toHaveProperty('reward');
  expect(metrics['response/aborted_ratio']).toBe(1);
  expect(Object.values(metrics).filter((value) => !Number.isFinite(value))).toEqual([]);
});

test('counts what the turns asked of a server, and leaves out a price that is not known of all', () => {
  const asked = { requests: 2, inputTokens: 100, cachedTokens: 40, outputTokens: 10, milliseconds: 1500 };
  const free = { requests: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, cost: 0, milliseconds: 1 };
  const withUsage = (usage: TurnUsage) => ({ ...turn(1), action: { ...turn(1).action, usage } });
  const of = (...usages: TurnUsage[]) =>
    rolloutMetrics([episode(0, 1, { steps: usages.map(withUsage) })], { rollout: 1 });
  expect(of({ ...asked, cost: 0.25 }, { ...asked, cost: 0.5 }, { ...free, cachedReplies: 1 })).toMatchObject({
    'policy/model_requests': 4,
    'policy/model_input_tokens': 200,
    'policy/model_cached_tokens': 80,
    'policy/model_output_tokens': 20,
    'policy/model_cost': 0.75,
    'policy/model_seconds': 3.001,
  });
  expect(of(asked, { ...asked, cost: 0.5 })).not.toHaveProperty(['policy/model_cost']);
  expect(Object.keys(of()).filter((name) => name.startsWith('policy/'))).toEqual([]);
});
