/** Problems of math-v1, drawn from a kind for their split. */
import { deriveSeed, type Rng, type Split } from '@toolenv/core';
import { type Draft, kinds } from './kinds.ts';
import { toText } from './rational.ts';

export type MathProblem = Omit<Draft, 'answer'> & {
  kind: string;
  /** From 1 to 3. */
  level: number;
  /** As `toText` writes it. */
  answer: string;
};

/** Draws a problem. No question belongs to two splits, and none contains its answer. */
export function drawProblem(rng: Rng, split: Split, maxLevel: number): MathProblem {
  const kind = rng.pick(Object.keys(kinds));
  const level = 1 + rng.int(maxLevel);
  for (;;) {
    const { answer, ...draft } = kinds[kind]!(rng, level);
    const text = toText(answer);
    if (splitOf(draft.question) === split && !draft.question.includes(text))
      return { kind, level, answer: text, ...draft };
  }
}

/** Eight in ten questions are for training. */
function splitOf(question: string): Split {
  const share = deriveSeed(0, 'math', question) % 10;
  if (share === 0) return 'validation';
  return share === 1 ? 'test' : 'train';
}
