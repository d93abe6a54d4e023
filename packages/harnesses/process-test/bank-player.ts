/** bankPlayer: a policy that makes the right calls of `bank-v1`, under the names that an agent has for the tools. */
import { type Policy, scriptedPolicy } from '@toolenv/core';

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
