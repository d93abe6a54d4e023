/** Text on one line that cannot control a terminal. */

/** Replaces control characters and those that reverse the direction of text by their code, such as `\u001b`. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
}
