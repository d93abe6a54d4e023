/** The counts of `toolenv tasks`, and its splits side by side. */
import type { DroppedConversations, TrafficSummary } from '@toolenv/dataset';
import { countText, plural } from './number-text.ts';
import { safeLine } from './terminal-text.ts';

const reasons: Readonly<Record<keyof DroppedConversations, string>> = {
  byRedaction: 'by the redaction',
  withoutQuestion: 'without a message of a user',
  withoutUser: 'without a user',
  withoutTime: 'without a time',
  halfWritten: 'half-written',
};

export function trafficTable(summary: TrafficSummary): string {
  const { conversations, dropped, duplicates, nearDuplicates, scored, notScored = 0 } = summary;
  const all = Object.values(dropped).reduce((sum, count) => sum + count, 0);
  const why = Object.entries(dropped).flatMap(([reason, count]) =>
    count > 0 ? [`${countText(count)} ${reasons[reason as keyof DroppedConversations]}`] : [],
  );
  const counts = [
    ['duplicates', duplicates, ''],
    ['near-duplicates', nearDuplicates, ''],
    ['dropped', all, why.join(', ')],
    ...(scored === undefined
      ? []
      : [['scored', scored, notScored > 0 ? `${countText(notScored)} not scored` : '']]),
  ] as [string, number, string][];
  const width = Math.max(...counts.map(([, count]) => countText(count).length));
  const lines = counts.map(([name, count, note]) =>
    `  ${name.padEnd(17)}${countText(count).padStart(width)}${note && `  (${note})`}`.trimEnd(),
  );
  return [plural(conversations, 'conversation'), ...lines, '', ...splitRows(summary)].join('\n');
}

function splitRows({ splits }: TrafficSummary): string[] {
  const rows = [
    ['split', 'tasks', 'conversations', 'first', 'last', 'file'],
    ...Object.entries(splits).map(([name, { tasks, conversations, from = '', to = '', file }]) => [
      ...[name, countText(tasks), countText(conversations)],
      ...[from.slice(0, 10), to.slice(0, 10), safeLine(file)],
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  return rows.map((cells) => {
    const padded = cells.map((cell, n) =>
      n === 1 || n === 2 ? cell.padStart(widths[n]!) : cell.padEnd(widths[n]!),
    );
    return padded
      .filter((_, n) => widths[n]! > 0)
      .join('  ')
      .trimEnd();
  });
}
