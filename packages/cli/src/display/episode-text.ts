/** An episode as text for people: the conversation, then its outcome and scores. */
import { isParseFailure, type Message, type ToolCallRecord, type Trajectory } from '@toolenv/core';
import { scoreLabel } from '@toolenv/training/runs';
import { scoreText } from './number-text.ts';

const labels: Record<Message['role'], string> = {
  system: 'system',
  user: 'user',
  assistant: 'policy',
  tool: 'tool',
};

/** @param width Columns at most; longer texts end in `…`. */
export function episodeText(trajectory: Trajectory, { width = 80 }: { width?: number } = {}): string {
  const { steps, rewards, reward, outcome } = trajectory;
  const [first] = steps;
  const lines = (first?.observation.messages ?? [])
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }) => line(labels[role], content, width));
  for (const { action, calls } of steps) {
    if (action.text !== '') lines.push(line('policy', action.text, width));
    for (const { call, text } of calls) {
      lines.push(
        line('call', callText(call), width),
        ...text.split('\n').map((part) => line('tool', part, width)),
      );
    }
  }
  const scored = Object.entries(rewards).filter(([, value]) => value !== null);
  const scores = scored.map(([name, value]) => `${scoreLabel(name)} ${scoreText(value)}`);
  const end = 'reason' in outcome ? outcome.reason.replaceAll('_', ' ') : outcome.kind;
  lines.push(
    line('end', [end, `reward ${scoreText(reward)}`, ...scores].join(' · '), Number.POSITIVE_INFINITY),
  );
  return lines.join('\n');
}

function callText(call: ToolCallRecord['call']): string {
  return isParseFailure(call) ? call.text : `${call.name} ${JSON.stringify(call.arguments)}`;
}

function line(label: string, content: string, width: number): string {
  const text = content.replace(/\s+/g, ' ').trim();
  const room = width - 10;
  return `  ${label.padEnd(6)}  ${text.length > room ? `${text.slice(0, room - 1)}…` : text}`;
}
