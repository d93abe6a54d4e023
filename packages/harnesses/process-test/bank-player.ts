/** bankPlayer: a policy that makes the right calls of the example `bank-v1`, under the names that an agent has for the tools. */
import { type EnvHandle, type Policy, rollout, scriptedPolicy, type Trajectory } from '@toolenv/core';

export interface BankTask {
  amount: number;
  calls: readonly { name: string; arguments: Record<string, unknown> }[];
}

export function bankPlayer(tasks: readonly BankTask[]): Policy {
  return scriptedPolicy(({ messages, tools }) => {
    const said = messages.map(({ content }) => content).join('\n');
    const task = tasks.find(({ amount }) => said.includes(`Send ${amount} euros`));
    const call = task?.calls[messages.filter(({ role }) => role === 'tool').length];
    if (!call) return 'Done.';
    const tool = tools.find(({ name }) => name === call.name || name.endsWith(`_${call.name}`));
    return tool ? [{ name: tool.name, arguments: call.arguments }] : `There is no tool ${call.name}.`;
  });
}

/** An episode of each task, in the order of the tasks. */
export async function playTasks<Task>(
  env: EnvHandle<Task>,
  policy: Policy,
  tasks: readonly Task[],
): Promise<Trajectory[]> {
  const trajectories = rollout({
    ...{ env, policy, seed: 1, retries: 0, concurrency: 2 },
    episodes: tasks.map((task, group) => ({ task, group, sample: 0 })),
    sampling: { maxTokens: 64, temperature: 0 },
  });
  const all: Trajectory[] = [];
  for await (const trajectory of trajectories) all.push(trajectory);
  return all.sort((a, b) => a.group - b.group);
}
