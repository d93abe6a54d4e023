/** Text of models, tools and plugins, made fit for a terminal. */

/**
 * Text that cannot move the cursor or change colours: control characters other than line breaks and tabs become visible
 * (U+2400 and on).
 */
export function safeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  return text.replace(/\r\n/g, '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\u2421';
  });
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

/** Columns of the terminal. Files and pipes get whole lines. */
export function terminalWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
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
