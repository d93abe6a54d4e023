/** Text of models, tools, servers and plugins, made fit for a terminal. */
import { redactSecrets } from '@toolenv/core/secrets';

/**
 * Control characters except tabs and line breaks, lone surrogates, and characters that break lines or reverse the direction
 * of text.
 */
const controls = /(?![\n\t])[\p{Cc}\p{Surrogate}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text that cannot move the cursor, change colours or reverse itself: the characters that could are shown as `\u001b`. It has no secrets of this process. */
export function safeText(text: string): string {
  return redactSecrets(text)
    .replaceAll('\r\n', '\n')
    .replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Safe text that stays on its line: a name, a version, an error. Line breaks become spaces. */
export function safeLine(text: string): string {
  return safeText(text.replace(/[\n\r\v\f\u0085\u2028\u2029]+/g, ' ').trim());
}

/** One word of a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Breaks lines at spaces, and begins each with `indent`. */
export function wrapText(text: string, { width, indent = '' }: { width: number; indent?: string }): string {
  return text
    .split('\n')
    .flatMap((line) => brokenLine(line, width - indent.length))
    .map((line) => `${indent}${line}`.trimEnd())
    .join('\n');
}

function brokenLine(line: string, room: number): string[] {
  if (line.length <= room) return [line];
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (current === '' || longer.length <= room) current = longer;
    else {
      lines.push(current);
      current = word;
    }
  }
  return [...lines, current];
}

/** Columns of the terminal, at least 40; a terminal may say 0. Files and pipes get whole lines. */
export function terminalWidth(): number {
  return process.stdout.isTTY ? Math.max(process.stdout.columns || 80, 40) : Number.POSITIVE_INFINITY;
}

/** Rows of two columns, the right column wrapped. */
export function columns(rows: readonly (readonly [left: string, right: string])[], width: number): string {
  const left = Math.max(0, ...rows.map(([text]) => text.length).filter((length) => length <= 40));
  return rows
    .map(([name, text]) => {
      const indent = ' '.repeat(left + 4);
      const body = wrapText(text, { width: Math.max(width, indent.length + 20), indent });
      const head = `  ${name.padEnd(left)}  `;
      return name.length > left && text !== '' ? `  ${name}\n${body}` : head + body.slice(indent.length);
    })
    .map((row) => row.trimEnd())
    .join('\n');
}

/** The rows of a table as lines, each column as wide as its longest cell. @param rows Of the same length. */
export function alignedRows(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

/** `groupSize` → `--group-size`. */
export function flagName(property: string): string {
  return `--${property.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
