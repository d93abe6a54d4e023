/** Shared by the tests of wrappers: actions and a policy for the ladder environment. */
import {
  type Action,
  collect,
  type EnvHandle,
  type Message,
  type Policy,
  rollout,
  scriptedPolicy,
  type Trajectory,
} from '../src/index.ts';
import type { Rung } from './ladder-env.ts';

export const start = { task: { goal: 3 }, seed: 1 };

export const answer: Action = { text: 'done', toolCalls: [], stopReason: 'stop' };

export function calling(rungs: number): Action {
  return { text: '', toolCalls: [{ id: 'c', name: 'climb', arguments: { rungs } }], stopReason: 'tool_call' };
}

/** The messages as `role: content`. */
export function contents({ messages }: { messages: Message[] }): string[] {
  return messages.map(({ role, content }) => `${role}: ${content}`);
}

/** Plays one episode for each goal. */
export function play(env: EnvHandle<Rung>, policy: Policy, goals: number[]): Promise<Trajectory<Rung>[]> {
  const episodes = goals.map((goal, group) => ({ task: { goal }, group, sample: 0 }));
  const sampling = { maxTokens: 9, temperature: 1 };
  return collect(rollout({ env, policy, episodes, concurrency: 4, sampling, seed: 1, retries: 0 }));
}

/** Climbs one rung at a time to the goal, then answers. */
export function climber(): Policy {
  return scriptedPolicy(({ messages }, turn) =>
    turn < Number(/\d+/.exec(messages[0]!.content)) ? [{ name: 'climb', arguments: { rungs: 1 } }] : 'done',
  );
}
