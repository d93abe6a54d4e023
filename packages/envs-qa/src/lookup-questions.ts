/** Lookup questions: one hop, as in Natural Questions (Kwiatkowski et al., 2019). */
import { askChain, relationPaths, walk } from './chain.ts';
import type { QuestionFamily } from './question-set.ts';

const paths = relationPaths(1);

/** Draws every relation equally often. */
export const lookupQuestions: QuestionFamily = {
  type: 'lookup',
  draw(part, _number, rng) {
    const { start, relations } = rng.pick(paths);
    const chain = walk(rng.pick(part.ofKind[start]), relations);
    return chain && askChain(chain, rng);
  },
};
