/** Families of questions that follow relations from one entity to the next. */
import { askChain, chainsOf } from './chain.ts';
import type { QuestionFamily } from './question-set.ts';

/** Draws the numbers of hops in turn. */
export function chainQuestions(type: string, hops: readonly number[]): QuestionFamily {
  const drawChain = chainsOf(hops);
  return {
    type,
    draw(part, number, rng) {
      const chain = drawChain(part, number, rng);
      return chain && askChain(chain, rng);
    },
  };
}

/** One hop, as in Natural Questions (Kwiatkowski et al., 2019). */
export const lookupQuestions: QuestionFamily = chainQuestions('lookup', [1]);
/** Two hops through an entity that is not named, as in HotpotQA. */
export const bridgeQuestions: QuestionFamily = chainQuestions('bridge', [2]);
export const composeHops = [3, 4] as const;
/** Three and four hops, as in MuSiQue (arXiv 2108.00573). */
export const composeQuestions: QuestionFamily = chainQuestions('compose', composeHops);
