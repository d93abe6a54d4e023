/** The beginning of a text, for messages: the text itself unless it has more than `longest` characters. */
export function excerpt(text: string, longest = 80): string {
  return text.length > longest ? `${text.slice(0, longest - 3)}…` : text;
}
