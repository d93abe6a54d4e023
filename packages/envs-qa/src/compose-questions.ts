/** Compose questions: three and four hops, as in MuSiQue (arXiv 2108.00573). */
import { askChain, relationPaths, walk } from './chain.ts';
import type { QuestionFamily } from './question-set.ts';

const [threeHops, fourHops] = [relationPaths(3), relationPaths(4)];

/** Draws three and four hops in turn, and every sequence of relations equally often. */
export const composeQuestions: QuestionFamily = {
  type: 'compose',
  draw(part, number, rng) {
    const { start, relations } = rng.pick(number % 2 === 0 ? threeHops : fourHops);
    const chain = walk(rng.pick(part.ofKind[start]), relations);
    return chain && askChain(chain, rng);
  },
};
