/** An episode as a model reads it that judges it or learns from it. */
import { turnMessage } from '../protocol/action.ts';
import type { Message } from '../protocol/message.ts';
import type { Trajectory } from '../protocol/trajectory.ts';
import { cutMiddle } from './cut-middle.ts';

/** What the policy read first: the task. At most about `limit` characters; the middle is left out. */
export function startText({ steps, task }: Trajectory, limit: number): string {
  const start = steps[0]?.observation.messages;
  return cutMiddle(start ? start.map(messageText).join('\n\n') : JSON.stringify(task), limit);
}

/**
 * What came after: the turns of the policy, the results of its tools, and the replies of the environment. At most about `limit` characters;
 * the middle is left out.
 */
export function episodeText({ steps, outcome }: Trajectory, limit: number): string {
  const first = steps[0]!;
  const last = steps.at(-1)!;
  const start = first.observation.messages;
  const shown = last.observation.messages;
  // A context that was rewritten is shown whole.
  const continues = start.every((message, n) => JSON.stringify(message) === JSON.stringify(shown[n]));
  const parts = (continues ? shown.slice(start.length) : shown).map(messageText);
  parts.push(messageText(turnMessage(last.action)));
  for (const { text } of last.calls) parts.push(`tool result:\n${text}`);
  const end = 'reason' in outcome ? `${outcome.kind}: ${outcome.reason}` : outcome.kind;
  return `${cutMiddle(parts.join('\n\n'), limit)}\n\nend: ${end}`;
}

function messageText(message: Message): string {
  const { role, content } = message;
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const called = calls.map(({ name, arguments: args }) => `calls ${name}(${JSON.stringify(args)})`);
  return [`${role === 'tool' ? 'tool result' : role}:`, content, ...called]
    .filter((part) => part !== '')
    .join('\n');
}
