/** Two episodes of one environment that run at once, with one id. */
import { defineToolEnv, type Env, openEnv, type Tool } from '@toolenv/core';

export interface Twins {
  twins: readonly [Env<object>, Env<object>];
  /** What the tool answers to one of them. */
  call(twin: 0 | 1, args: Record<string, unknown>): Promise<string>;
  /** Ends both, and the environment. */
  close(): Promise<void>;
}

export async function openTwins(tool: Tool): Promise<Twins> {
  const env = await openEnv(
    defineToolEnv({
      name: 'twins-v1',
      description: 'Keeps something.',
      tasks: { test: [{}] },
      rewards: { done: { kind: 'outcome' } },
      episode: () => ({ messages: 'Keep.', tools: [tool] }),
    }),
  );
  const twins = [env.episode(), env.episode()] as const;
  for (const twin of twins) await twin.reset({ task: {}, seed: 1, episodeId: 'one' });
  return {
    twins,
    async call(twin, args) {
      const toolCalls = [{ id: '1', name: tool.name, arguments: args }];
      const { calls } = await twins[twin].step({ text: '', toolCalls, stopReason: 'stop' });
      return calls[0]!.text;
    },
    async close() {
      for (const twin of twins) await twin.close();
      await env.close();
    },
  };
}
