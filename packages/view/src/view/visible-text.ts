/** Texts that cannot reverse the direction of what stands beside them. */

const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const eachTurning = new RegExp(turning, 'g');

/** Whether a text has an escape that {@link visibleText} writes. */
export const turningEscape: RegExp = /\\u(?:061c|200[ef]|202[a-e]|206[6-9])/;

/** The text with such characters as `\u202e`, as a terminal shows them. */
export function visibleText(text: string): string {
  return text.replace(eachTurning, escaped);
}

/** The value of a JSON text, with visible texts. Names of properties stay: a question may name them. */
export function readVisible(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return turning.test(json) ? visible(value) : value;
}

function visible(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map(visible);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, visible(part)]));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
