/** The one-hop questions that a two-hop question is made of. */
import { kinds, type QaRecord } from '@toolenv/envs-qa';

/** `the company that published X`, and the question with the name of what that is in its place. */
export function subQuestions({
  question,
  supporting_facts: facts,
}: QaRecord): [phrase: string, rest: string] {
  const [subject, bridge] = [...new Set(facts.map(([title]) => title))];
  const phrases = Object.values(kinds).flatMap(({ noun, relations }) =>
    Object.values(relations).flatMap((relation) =>
      relation.phrases.flatMap((phrase) => [
        phrase.replace('{x}', subject!),
        phrase.replace('{x}', `the ${noun} ${subject}`),
      ]),
    ),
  );
  const [longest] = phrases.filter((phrase) => question.includes(phrase)).sort((a, b) => b.length - a.length);
  if (longest === undefined) throw new RangeError(`"${question}" asks about no phrase of ${subject}.`);
  return [longest, question.replace(longest, bridge!)];
}
