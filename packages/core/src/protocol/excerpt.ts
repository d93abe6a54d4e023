/** excerpt: the beginning of a text, for messages. */

/** The text itself, or its beginning if it has more than `longest` characters. */
export function excerpt(text: string, longest = 80): string {
  return text.length > longest ? `${text.slice(0, longest - 3)}…` : text;
}
