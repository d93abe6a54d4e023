/** Demonstrations of arithmetic-v1: one expression, then the answer. */
import type { Rng } from '@toolenv/core';
import { evaluateExpression } from '../../../packages/envs-classic/src/arithmetic/evaluate-expression.ts';
import type { Problem } from '../../../packages/envs-classic/src/arithmetic/problem.ts';
import type { LibraryPlayer } from './player.ts';

export const arithmetic: LibraryPlayer<Problem> = {
  ref: '@toolenv/envs-classic/arithmetic-v1',
  options: {},
  maxTokens: 96,
  success: 'correct',
  /** The story, by its last sentence without the person, and the number of operations. */
  goal({ question, expression }) {
    const story = question.slice(question.lastIndexOf('. ') + 2).replace(/(?<= )[A-Z]\w+/, '…');
    return `${story} ${expression.match(/ [-+*/] /g)!.length}`;
  },
  play(problem, careless, rng) {
    const expression = careless ? mistaken(problem.expression, rng) : problem.expression;
    return ({ messages }, turn) =>
      turn === 0 ? [{ name: 'calculate', arguments: { expression } }] : `#### ${messages.at(-1)!.content}`;
  },
};

const opposite = { '+': '-', '-': '+', '*': '/', '/': '*' } as const;

/** Leaves out the last operation, or takes the opposite of an operation, so that the value differs. */
function mistaken(expression: string, rng: Rng): string {
  const shorter = /^\((.*)\) [-+*/] \d+$/.exec(expression)?.[1];
  if (shorter && rng.float() < 0.5) return shorter;
  const places = [...expression.matchAll(/ ([-+*/]) /g)].map(({ index }) => index + 1);
  const place = rng.pick(places);
  const operator = opposite[expression[place] as keyof typeof opposite];
  const changed = `${expression.slice(0, place)}${operator}${expression.slice(place + 1)}`;
  return Number.isFinite(evaluateExpression(changed)) ? changed : expression;
}
