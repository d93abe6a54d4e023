/** The answer of an episode: what stands in `<answer>…</answer>`. */

export interface TaggedAnswer {
  /** Trimmed; absent if there is no closed pair of tags with something in it. */
  answer?: string;
  /** Whether there is one opening and one closing tag, in this order, with something between them. */
  wellFormed: boolean;
}

/** Reads the last closed pair of tags, so that a model may quote the tags while it thinks. */
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
