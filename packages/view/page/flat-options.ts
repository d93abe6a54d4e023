/** flatOptions: the facts of a run as dotted names and texts. */

/** A text stays as it is; other values are JSON. */
export function flatOptions(value: object, prefix = ''): Map<string, string> {
  const entries = Object.entries(value).flatMap(([name, part]): [string, string][] => {
    const path = `${prefix}${name}`;
    const isGroup = typeof part === 'object' && part !== null && !Array.isArray(part);
    return isGroup ? [...flatOptions(part, `${path}.`)] : [[path, textOf(part)]];
  });
  return new Map(entries);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '–');
}
