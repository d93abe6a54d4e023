/** contentText: what a message says whose content may be a list of parts, as OpenAI's APIs and data sets have it. */

const textParts = new Set<unknown>(['text', 'input_text', 'output_text']);

/** The text of a content: a text, or a list of parts of text; `undefined` for anything else, such as a list with an image. */
export function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((part) => {
    if (typeof part === 'string') return part;
    const { type, text } = Object(part);
    return textParts.has(type) && typeof text === 'string' ? text : undefined;
  });
  return texts.includes(undefined) ? undefined : texts.join('');
}
