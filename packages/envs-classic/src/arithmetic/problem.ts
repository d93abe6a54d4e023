/** Problems of arithmetic-v1: a person, a story, and a number of changes. */
import type { Rng, Split } from '@toolenv/core';
import { type BinaryOperator, calculate } from './evaluate-expression.ts';
import { stories } from './stories.ts';

export interface Problem {
  question: string;
  /** Computes the answer, for the tool `calculate`. */
  expression: string;
  /** A whole number that the question does not contain. */
  answer: number;
}

/** Splits have different people, so no problem occurs in two splits. */
const people: Record<Split, readonly string[]> = {
  train: ['Ada', 'Ben', 'Clara', 'Dina', 'Emil', 'Farid', 'Greta', 'Hugo', 'Ines', 'Jonas', 'Kofi', 'Lena'],
  validation: ['Mila', 'Noor', 'Oskar', 'Priya'],
  test: ['Quinn', 'Rosa', 'Samir', 'Tara', 'Umar', 'Vera', 'Wanda', 'Yusuf'],
};

/** Draws a problem of `steps` operations, the first of which is a product. */
export function drawProblem(rng: Rng, split: Split, steps: number): Problem {
  for (;;) {
    const problem = draft(rng, split, steps);
    if (!problem) continue;
    const numbers: readonly string[] = problem.question.match(/\d+/g)!;
    if (!numbers.includes(String(problem.answer))) return problem;
  }
}

/** `undefined` if too few changes are plausible. */
function draft(rng: Rng, split: Split, steps: number): Problem | undefined {
  const name = rng.pick(people[split]);
  const story = rng.pick(stories);
  const [a, b] = [2 + rng.int(8), 6 + rng.int(20)];
  const sentences = [fill(story.begin, { name, a, b })];
  let [expression, answer] = [`${a} * ${b}`, a * b];
  for (const [change, sentence] of rng.shuffle(story.changes)) {
    if (sentences.length === steps) break;
    const n = drawNumber(rng, change, answer);
    if (n === undefined) continue;
    sentences.push(fill(sentence, { name, n }));
    expression = `(${expression}) ${change} ${n}`;
    answer = calculate(answer, change, n);
  }
  if (sentences.length < steps) return undefined;
  return { question: [...sentences, fill(story.ask, { name })].join(' '), expression, answer };
}

/** A number by which the amount can change and stay a whole number of at least 2; `undefined` if none is plausible. */
function drawNumber(rng: Rng, change: BinaryOperator, amount: number): number | undefined {
  if (change === '+') return 2 + rng.int(50);
  if (change === '*') return 2 + rng.int(3);
  if (change === '-') return amount < 5 ? undefined : 2 + rng.int(amount - 3);
  const divisors = [2, 3, 4, 5, 6, 7, 8].filter((n) => amount % n === 0 && amount > n);
  return divisors.length === 0 ? undefined : rng.pick(divisors);
}

function fill(sentence: string, values: Record<string, string | number>): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (_, key: string) => String(values[key]));
}
