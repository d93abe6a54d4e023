/** Bridge questions: two hops through an entity that is not named, as in HotpotQA. */
import { askChain, relationPaths, walk } from './chain.ts';
import type { QuestionFamily } from './question-set.ts';

const paths = relationPaths(2);

/** Draws every pair of relations equally often. */
export const bridgeQuestions: QuestionFamily = {
  type: 'bridge',
  draw(part, _number, rng) {
    const { start, relations } = rng.pick(paths);
    const chain = walk(rng.pick(part.ofKind[start]), relations);
    return chain && askChain(chain, rng);
  },
};
