/** BadExample: what is wrong with a line of a data file. The reader adds the file and the number of the line. */
export class BadExample extends Error {
  /** @param path JSON Pointer to the wrong part; empty for the whole line. */
  constructor(path: string, expected: string, received: unknown) {
    super(`${path === '' ? '' : `${path}: `}expected ${expected}; received ${excerpt(received)}`);
    this.name = 'BadExample';
  }
}

function excerpt(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
