/** The environments of the library that the small policy learns besides questions of synthetic worlds. */

import type { Rng, Script, Scripted } from '@toolenv/core';
import type { Problem } from '../../../packages/envs-classic/src/arithmetic/problem.ts';
import type { ShopTask } from '../../../packages/envs-classic/src/sql-v1.ts';
import safeEnv from '../../../templates/env/src/safe-v1.ts';
import { bank } from './bank.ts';
import { household } from './household.ts';
import type { LibraryPlayer } from './player.ts';
import { wordle } from './wordle.ts';

const sql: LibraryPlayer<ShopTask> = {
  ref: '@toolenv/envs-classic/sql-v1',
  options: {},
  maxTokens: 128,
  success: 'correct',
  /** The question without the names in it. */
  goal: ({ question }) => question.replace(/"[^"]+"|(?<=.)\b[A-Z]\w+|(?<=category )\w+(?= has)/g, '…'),
  people: ({ query }) => query.match(/(?<=name = ')[A-Z]\w+/) ?? [],
  /** A hasty player answers without a query. */
  play({ query }, rng, isHasty) {
    const sql = query.replaceAll(/\s+/g, ' ');
    return ({ messages }, turn) => {
      if (turn === 0 && isHasty && rng.float() < 0.45) return '<answer>none</answer>';
      if (turn === 0) return [{ name: 'query', arguments: { sql } }];
      const first = messages.at(-1)!.content.split('\n')[1]?.split(' | ')[0];
      return `<answer>${first ?? 'none'}</answer>`;
    };
  },
};

interface Task {
  code: number;
}

const safe: LibraryPlayer<Task> = {
  ref: safeEnv,
  options: {},
  maxTokens: 48,
  success: 'opened',
  /** The code without its last digit. */
  goal: ({ code }) => String(Math.floor(code / 10)),
  play: tries,
};

/** Where bounds are farther apart than this, the try is a multiple of ten. */
const far = 40;

/** Tries the code halfway, until it is found. A hasty player answers with it instead. */
function tries({ code }: Task, rng: Rng, isHasty = false): Script {
  let [above, below] = [99, 1000];
  let tried: number | undefined;
  return () => {
    if (tried === code) return String(code);
    if (tried !== undefined) [above, below] = tried < code ? [tried, below] : [above, tried];
    const middle = (above + below) / 2;
    tried = below - above > far ? 10 * Math.round(middle / 10) : Math.floor(middle);
    if (isHasty && rng.float() < 1 / 8) return String(tried);
    const toolCalls = [{ id: 'try', name: 'try_code', arguments: { code: tried } }];
    return { text: `${above} to ${below}`, stopReason: 'tool_call', toolCalls };
  };
}

const arithmetic: LibraryPlayer<Problem> = {
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

export const library = { arithmetic, household, bank, sql, wordle, safe };

export type LibraryName = keyof typeof library;
