/** Draws an episode: who said what, from the question to the reward. */
import type { Action, Message, Trajectory } from '@toolenv/core';
import { chartColors } from '../../packages/training/src/reports/svg-chart.ts';

export interface Line {
  who: 'system' | 'user' | 'assistant' | 'tool' | 'reward';
  text: string;
}

const colors: Readonly<Record<Line['who'], string>> = {
  system: chartColors.ink,
  user: chartColors.series[0],
  assistant: chartColors.series[2],
  tool: chartColors.series[1],
  reward: chartColors.series[3],
};

/** Pixels; a character of the font is narrower than `character`. */
const size = { width: 640, line: 17, gap: 8, top: 24, left: 104, character: 7.4 };
const columns = Math.floor((size.width - size.left - 12) / size.character);
/** Lines of a message, and messages of a picture; the middle of a longer episode is left out. */
const most = { lines: 3, messages: 8 };

/** The messages of an episode in their order, with the reward at the end. */
export function conversationOf({ steps, reward, rewards }: Trajectory): Line[] {
  const last = steps.at(-1)!;
  const messages = last.observation.messages.map(lineOf);
  const results = last.calls.map(({ text }): Line => ({ who: 'tool', text }));
  const components = Object.entries(rewards).flatMap(([name, value]) =>
    value === null || value === 0 ? [] : [`${name} ${rounded(value)}`],
  );
  const sum = `${reward === null ? 'not scored' : rounded(reward)}${components.length > 1 ? ` = ${components.join(', ')}` : ''}`;
  return [
    ...messages,
    { who: 'assistant', text: textOf(last.action) },
    ...results,
    { who: 'reward', text: sum },
  ];
}

function lineOf(message: Message): Line {
  if (message.role === 'assistant') return { who: 'assistant', text: textOf(message as unknown as Action) };
  const { content } = message as { content: string | readonly { type: string; text?: string }[] };
  const text =
    typeof content === 'string' ? content : content.map((part) => part.text ?? `(${part.type})`).join(' ');
  return { who: message.role as Line['who'], text };
}

function textOf({ text = '', content, toolCalls = [] }: Partial<Action> & { content?: unknown }): string {
  const calls = toolCalls.map((call) =>
    'parseFailure' in call ? call.text : `${call.name}(${JSON.stringify(call.arguments)})`,
  );
  return [text || (typeof content === 'string' ? content : ''), ...calls]
    .filter((part) => part !== '')
    .join('\n');
}

function rounded(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

/** A whole SVG document that is legible on light and on dark backgrounds. */
export function episodeSvg(title: string, lines: readonly Line[]): string {
  let y = size.top;
  const drawn = withoutMiddle(lines).map(({ who, text }) => {
    const rows = wrapped(text);
    const [from, height] = [y, rows.length * size.line];
    y += height + size.gap;
    return [
      `<rect x="12" y="${from - 13}" width="3" height="${height}" rx="1.5" fill="${colors[who]}"/>`,
      `<text x="22" y="${from}" fill="${colors[who]}" font-weight="600">${who}</text>`,
      ...rows.map(
        (row, at) => `<text x="${size.left}" y="${from + at * size.line}">${escapeXml(row)}</text>`,
      ),
    ].join('\n');
  });
  const height = y + 4;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" width="${size.width}" height="${height}" role="img" xml:space="preserve" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="12" fill="${chartColors.ink}">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect x=".5" y=".5" width="${size.width - 1}" height="${height - 1}" rx="8" fill="none" stroke="${chartColors.ink}" stroke-opacity=".5"/>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function withoutMiddle(lines: readonly Line[]): readonly Line[] {
  if (lines.length <= most.messages) return lines;
  const omitted = lines.length - most.messages + 1;
  return [
    ...lines.slice(0, most.messages - 4),
    { who: 'system', text: `… ${omitted} more messages …` },
    ...lines.slice(-3),
  ];
}

/** The text in lines of the width of the picture; a longer text ends with an ellipsis. */
function wrapped(text: string): string[] {
  const rows = text
    .trim()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => line.match(new RegExp(`.{1,${columns}}(?=\\s|$)\\s*|.{${columns}}`, 'gu')) ?? [])
    .map((row) => row.trimEnd());
  if (rows.length <= most.lines) return rows.length === 0 ? [''] : rows;
  return [...rows.slice(0, most.lines - 1), `${rows[most.lines - 1]!.slice(0, columns - 2)} …`];
}

function escapeXml(text: string): string {
  return (
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // XML has no other control characters.
      .replaceAll(/[^\t\n\r\u0020-\uffff\u{10000}-\u{10ffff}]/gu, '�')
  );
}
