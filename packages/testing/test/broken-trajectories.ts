/** Trajectories that break one rule each. All are changes of one valid trajectory. */
import { aborted, ToolEnvError, type Trajectory, truncated } from '@toolenv/core';
import type { RuleId } from '../src/index.ts';

type Step = Trajectory['steps'][number];

const call = { id: 'a', name: 'look', arguments: { at: 'sky' } };
const observation: Step['observation'] = {
  messages: [{ role: 'user', content: 'What is up?' }],
  tools: [{ name: 'look', description: 'Look.', inputSchema: { type: 'object' } }],
};

function tokens(length: number): Step['action']['tokens'] {
  return {
    prompt: Int32Array.of(1, 2, 3),
    action: new Int32Array(length).fill(4),
    logprobs: new Float32Array(length).fill(-0.1),
  };
}

export function goodTrajectory(): Trajectory<unknown> {
  return {
    version: 1,
    env: 'sky-v1',
    policy: 'watcher',
    episodeId: '1-0-0',
    index: 0,
    task: { question: 'What is up?' },
    group: 0,
    sample: 0,
    seed: 5,
    rewardSpec: {
      right: { kind: 'outcome', range: [0, 1], weight: 1 },
      looked: { kind: 'process', range: [0, 1], weight: 0.1 },
    },
    steps: [
      {
        observation,
        action: { text: '', toolCalls: [call], stopReason: 'tool_call', tokens: tokens(2) },
        calls: [
          { call, result: { content: [{ type: 'text', text: 'blue' }] }, text: 'blue', milliseconds: 1 },
        ],
        rewards: { looked: 1 },
        info: {},
      },
      {
        observation,
        action: { text: 'blue', toolCalls: [], stopReason: 'stop', tokens: tokens(3) },
        calls: [],
        rewards: { right: 1 },
        info: {},
      },
    ],
    outcome: { kind: 'terminated', reason: 'answered' },
    rewards: { right: 1, looked: 1 },
    reward: 1.1,
  };
}

/** The valid trajectory without the reward of its last step. */
function unscored(): Trajectory<unknown> {
  const good = goodTrajectory();
  good.steps[1]!.rewards = {};
  return { ...good, rewards: { right: null, looked: 1 }, reward: 0.1 };
}

export const brokenTrajectories: readonly [what: string, rule: RuleId, make: () => Trajectory | string][] = [
  ['malformed JSON', 'TRAJ-1', () => '{"version": 1,'],
  ['no episode id', 'TRAJ-1', () => ({ ...goodTrajectory(), episodeId: '' })],
  [
    'an unknown outcome',
    'TRAJ-1',
    () => ({ ...goodTrajectory(), outcome: { kind: 'done' } }) as unknown as Trajectory,
  ],
  [
    'a tool message without a call id',
    'TRAJ-1',
    () => {
      const good = goodTrajectory();
      good.steps[1]!.observation = { ...observation, messages: [{ role: 'tool', content: 'blue' } as never] };
      return good;
    },
  ],
  ['a date in the task', 'TRAJ-2', () => ({ ...goodTrajectory(), task: { at: new Date(0) } })],
  [
    'log-probabilities rounded in the file',
    'TRAJ-2',
    () => {
      const good = goodTrajectory();
      const { prompt, action } = good.steps[0]!.action.tokens!;
      const plain = { prompt: [...prompt], action: [...action], logprobs: [-0.1, -0.1] };
      return JSON.stringify({
        ...good,
        steps: [
          { ...good.steps[0]!, action: { ...good.steps[0]!.action, tokens: plain } },
          { ...good.steps[1]!, action: { text: 'blue', toolCalls: [], stopReason: 'stop' } },
        ],
      });
    },
  ],
  [
    'a component that is not the sum over the steps',
    'TRAJ-3',
    () => ({ ...goodTrajectory(), rewards: { right: 1, looked: 0.5 } }),
  ],
  ['a reward that is not the weighted sum', 'TRAJ-3', () => ({ ...goodTrajectory(), reward: 2 })],
  [
    'a reward for an aborted episode',
    'TRAJ-4',
    () => ({ ...goodTrajectory(), outcome: aborted(new ToolEnvError('infrastructure.server', 'down')) }),
  ],
  [
    'an episode that is still running',
    'TRAJ-5',
    () => ({ ...goodTrajectory(), outcome: { kind: 'running' } }),
  ],
  [
    'fewer log-probabilities than tokens',
    'TRAJ-6',
    () => {
      const good = goodTrajectory();
      good.steps[0]!.action.tokens!.logprobs = Float32Array.of(-1);
      return good;
    },
  ],
  [
    'an outcome reward before the last step',
    'TRAJ-7',
    () => {
      const good = goodTrajectory();
      good.steps[0]!.rewards = { looked: 1, right: 1 };
      good.steps[1]!.rewards = {};
      return good;
    },
  ],
  [
    'a call without a record',
    'TRAJ-8',
    () => {
      const good = goodTrajectory();
      good.steps[0]!.calls = [];
      return good;
    },
  ],
  [
    'a truncation that leaves an outcome component unscored',
    'TRAJ-9',
    () => ({ ...unscored(), outcome: truncated('max_turns') }),
  ],
];
