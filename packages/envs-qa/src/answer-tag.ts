/** Reads the answer of an episode from `<answer>…</answer>`. */

export interface TaggedAnswer {
  /** Trimmed; absent if there is no complete pair of tags with text between them. */
  answer?: string;
  /** Whether there is exactly one opening and one closing tag, in this order, with text between them. */
  wellFormed: boolean;
}

/** Reads the last complete pair of tags, so that a model may mention the tags while it thinks. */
export function readAnswer(text: string): TaggedAnswer {
  const end = text.lastIndexOf('</answer>');
  const start = end < 0 ? -1 : text.lastIndexOf('<answer>', end);
  const answer = start < 0 ? '' : text.slice(start + '<answer>'.length, end).trim();
  if (answer === '') return { wellFormed: false };
  return { answer, wellFormed: count(text, '<answer>') === 1 && count(text, '</answer>') === 1 };
}

function count(text: string, tag: string): number {
  return text.split(tag).length - 1;
}
