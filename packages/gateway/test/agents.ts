/** Environments around an agent that a test writes, and policies that play with it. */
import {
  type Action,
  type EnvDefinition,
  type Observation,
  type Policy,
  playTask,
  type SamplingOptions,
  type Trajectory,
} from '@toolenv/core';
import { type AgentContext, type AgentEnvDefinition, defineAgentEnv } from '../src/index.ts';

export type TestAgent = (context: AgentContext) => unknown;

/** Rewards 1 for the result `right`. */
export function envOf(
  agent: TestAgent,
  more: Pick<
    AgentEnvDefinition<object, never, never, never, never, never>,
    'malformed' | 'blame' | 'limits'
  > = {},
): EnvDefinition<object, never> {
  const definition = defineAgentEnv({
    name: 'agent-v1',
    description: 'An agent.',
    limits: { maxTurns: 20, toolTimeout: 5000 },
    ...more,
    tasks: { test: [{}] },
    agent,
    rewards: {
      right: { kind: 'outcome', score: ({ result }) => Number(result === 'right') },
      steps: { kind: 'process', weight: 0, range: [-100, 100] },
    },
  });
  return definition as EnvDefinition<object, never>;
}

/** What `act` says, as text or as an action. Texts that are equal have tokens of their own. */
export function policyOf(
  act: (
    observation: Observation,
    options: SamplingOptions,
    call: number,
  ) => Promise<string | Action> | string | Action,
): Policy & { calls: number } {
  const policy = {
    spec: { name: 'test', contextLength: 10_000 },
    calls: 0,
    async act(observation: Observation, options: SamplingOptions): Promise<Action> {
      const said = await act(observation, options, policy.calls++);
      return typeof said === 'string' ? { text: said, toolCalls: [], stopReason: 'stop' } : said;
    },
  };
  return policy;
}

/** An action that calls `lookup`, with the id that the model gives all its first calls. */
export function calling(...words: string[]): Action {
  const toolCalls = words.map((word, i) => ({ id: `call-${i}`, name: 'lookup', arguments: { word } }));
  return { text: '', toolCalls, stopReason: 'tool_call' };
}

export function play(
  agent: TestAgent,
  policy: Policy | Parameters<typeof policyOf>[0],
  more: Parameters<typeof envOf>[1] = {},
): Promise<Trajectory> {
  const player = 'act' in policy ? policy : policyOf(policy);
  return playTask(envOf(agent, more), {}, player, { retries: 0 });
}
