/** rightAnswer: what an episode should have answered. */
import type { Answers } from '../../src/view/routes.ts';

/** As the environment says; else the field `answer` or `answers` of the task. */
export function rightAnswer({
  episode,
  solution,
}: Pick<Answers['/api/episode'], 'episode' | 'solution'>): string | undefined {
  if (solution?.answer !== undefined) return solution.answer;
  const { answer, answers } = Object(episode.task) as Record<string, unknown>;
  const given = [answer ?? answers]
    .flat()
    .filter((each) => ['string', 'number', 'boolean'].includes(typeof each));
  return given.length === 0 ? undefined : given.join(' or ');
}
