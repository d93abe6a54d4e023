/** Reads JSON that may be malformed. */

/** The value of a JSON text; `undefined` if the text is not JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object of a JSON text; `undefined` if the text is not a JSON object. */
export function tryObject(text: string): Record<string, unknown> | undefined {
  const value = tryJson(text);
  return isObject(value) ? value : undefined;
}
