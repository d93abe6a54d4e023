/** Claims to check: yes/no questions about the last entity of a chain, as in HoVer (arXiv 2011.03088). */
import { chainsOf, factsOf, subjectOf } from './chain.ts';
import { kinds } from './kinds.ts';
import type { QuestionFamily } from './question-set.ts';
import { fill } from './template.ts';

export const claimHops = [1, 2, 3] as const;

/** Draws the numbers of hops in turn. Half of the claims of each number are right. */
export function claimQuestions(hops: readonly number[]): QuestionFamily {
  const drawChain = chainsOf(hops);
  return {
    type: 'claims',
    draw(part, number, rng) {
      const chain = drawChain(part, number, rng);
      if (!chain) return undefined;
      const right = number % (2 * hops.length) < hops.length;
      const [entity, answer] = chain.entities.slice(-2);
      const claimed = right ? answer! : rng.pick(part.ofKind[answer!.kind]);
      if (!right && chain.entities.includes(claimed)) return undefined;
      const { phrases } = kinds[entity!.kind].relations[chain.relations.at(-1)!]!;
      const phrase = fill(rng.pick(phrases), { x: subjectOf(chain, rng) });
      return {
        question: `Is ${phrase} ${claimed.name}?`,
        answer: right ? 'yes' : 'no',
        facts: factsOf(chain),
      };
    },
  };
}
