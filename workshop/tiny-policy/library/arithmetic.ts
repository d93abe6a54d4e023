/** Demonstrations of arithmetic-v1: one sentence of the story after another, each with its operation, then the answer. */
import type { Scripted } from '@toolenv/core';
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
  /** A hasty player takes the result of a step for the answer. */
  play({ question, expression }, rng, isHasty) {
    const sentences = question.split(/(?<=\.) /);
    const first = /\d+/.exec(expression)![0];
    const operations = operationsOf(expression);
    return ({ messages }, turn) => {
      const amount = turn === 0 ? first : messages.at(-1)!.content;
      const ends = isHasty && turn > 0 && rng.float() < 1 / 3;
      const operation = ends ? undefined : operations[turn];
      return operation ? step(sentences[turn]!, `${amount} ${operation}`) : `#### ${amount}`;
    };
  },
};

/** In the last sentence of a story. */
const person = /(?<= )[A-Z]\w+/;

function lastSentence(question: string): string {
  return question.slice(question.lastIndexOf('. ') + 2);
}

/** The operations after the first number, of which each is about a sentence: `+ 3`. */
function operationsOf(expression: string): string[] {
  return expression.match(/(?<= )[-+*/] \d+/g) ?? [];
}

/** Repeats the sentence before the call, so that the policy reads the operation from the words just before it. */
function step(sentence: string, expression: string): Scripted {
  const toolCalls = [{ id: 'step', name: 'calculate', arguments: { expression } }];
  return { text: sentence, stopReason: 'tool_call', toolCalls };
}
