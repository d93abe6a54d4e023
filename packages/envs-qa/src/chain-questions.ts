/** Families of questions that follow relations from one entity to the next. */
import { askChain, relationPaths, walk } from './chain.ts';
import type { QuestionFamily } from './question-set.ts';

/** Draws the numbers of hops in turn, and every sequence of relations equally often. */
export function chainQuestions(type: string, hops: readonly number[]): QuestionFamily {
  const paths = hops.map(relationPaths);
  return {
    type,
    draw(part, number, rng) {
      const { start, relations } = rng.pick(paths[number % paths.length]!);
      const chain = walk(rng.pick(part.ofKind[start]), relations);
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
