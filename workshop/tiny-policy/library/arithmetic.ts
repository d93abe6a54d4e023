/** Demonstrations of arithmetic-v1: one sentence of the story after another, each with its operation, then the answer. */
import type { Rng, Scripted } from '@toolenv/core';
import type { BinaryOperator } from '../../../packages/envs-classic/src/arithmetic/evaluate-expression.ts';
import type { Problem } from '../../../packages/envs-classic/src/arithmetic/problem.ts';
import type { LibraryPlayer } from './player.ts';

export const arithmetic: LibraryPlayer<Problem> = {
  ref: '@toolenv/envs-classic/arithmetic-v1',
  options: {},
  maxTokens: 96,
  success: 'correct',
  /** The story, by its last sentence without the person, and the number of operations. */
  goal({ question, expression }) {
    const story = lastSentence(question).replace(person, '…');
    return `${story} ${operationsOf(expression).length}`;
  },
  people: ({ question }) => lastSentence(question).match(person)!,
  play({ question, expression }, careless, rng) {
    const sentences = question.split(/(?<=\.) /);
    const first = /\d+/.exec(expression)![0];
    const right = operationsOf(expression);
    const operations = careless ? mistaken(right, rng) : right;
    return ({ messages }, turn) => {
      const amount = turn === 0 ? first : messages.at(-1)!.content;
      const operation = operations[turn];
      return operation ? step(sentences[turn]!, `${amount} ${operation.join(' ')}`) : `#### ${amount}`;
    };
  },
};

/** In the last sentence of a story. */
const person = /(?<= )[A-Z]\w+/;

function lastSentence(question: string): string {
  return question.slice(question.lastIndexOf('. ') + 2);
}

type Operation = readonly [operator: BinaryOperator, number: string];

/** The operations after the first number, of which each is about a sentence. */
function operationsOf(expression: string): Operation[] {
  const found = [...expression.matchAll(/ ([-+*/]) (\d+)/g)];
  return found.map(([, operator, number]) => [operator as BinaryOperator, number!]);
}

/** Repeats the sentence before the call, so that the policy reads the operation from the words just before it. */
function step(sentence: string, expression: string): Scripted {
  const toolCalls = [{ id: 'step', name: 'calculate', arguments: { expression } }];
  return { text: sentence, stopReason: 'tool_call', toolCalls };
}

/** Wrong operators that keep whole numbers whole. */
const wrong: Readonly<Record<BinaryOperator, BinaryOperator>> = { '+': '-', '-': '+', '*': '+', '/': '-' };

/** Leaves out the last operation, or takes a wrong operator. */
function mistaken(operations: readonly Operation[], rng: Rng): Operation[] {
  if (rng.float() < 0.5) return operations.slice(0, -1);
  const place = rng.int(operations.length);
  return operations.map(([operator, number], index) => [
    index === place ? wrong[operator] : operator,
    number,
  ]);
}
