/** Demonstrators: several ways to solve a task with its tools, in turns that an environment plays. A way is drawn for each episode. */
import type { Rng, Script, Scripted } from '@toolenv/core';
import { goldTitles, type QaTask } from '@toolenv/envs-qa';
import { type BankTask, goldCalls, mustAsk } from '../../packages/envs-classic/src/bank/rules.ts';

/** Draws a way to solve a task. */
export type Demonstrator<Task> = (task: Task, rng: Rng) => Script | readonly Scripted[];

/** The name of a task's kind. */
export type KindOf<Task> = (task: Task) => string;

interface ArithmeticTask {
  /** Such as `((3 * 9) + 45) / 3`. */
  expression: string;
  answer: number;
}

/** arithmetic-v1: the whole expression in a call, or its first product in a call of its own; and several forms of answer. */
export const arithmetic: Demonstrator<ArithmeticTask> = ({ expression, answer }, rng) => {
  const calls = rng.float() < 0.3 ? afterProduct(expression) : [swapped(expression, rng)];
  return [...calls.map((call) => [calculate(call)]), answerOf(expression, answer, rng)];
};

/** `2 operations`. */
export const operationsOf: KindOf<ArithmeticTask> = ({ expression }) =>
  `${expression.split(/ [-+*/] /).length - 1} operations`;

function calculate(expression: string) {
  return { name: 'calculate', arguments: { expression } };
}

/** The expression, or with its first factors in the other order. */
function swapped(expression: string, rng: Rng): string {
  return rng.float() < 0.5 ? expression : expression.replace(/(\d+) \* (\d+)/, '$2 * $1');
}

/** `((3 * 9) + 45) / 3` → `3 * 9`, `(27 + 45) / 3`. */
function afterProduct(expression: string): string[] {
  const [product, a, b] = /(\d+) \* (\d+)/.exec(expression)!;
  const rest = expression.replace(`(${product})`, String(Number(a) * Number(b)));
  return [product, rest];
}

function answerOf(expression: string, answer: number, rng: Rng): string {
  const before = rng.pick([`${expression} = ${answer}\n`, `The answer is ${answer}.\n`, '']);
  return `${before}#### ${answer}`;
}

/** gsm8k-v1: the authors' words up to each of their calculations, as a call, and what follows the last as the answer. */
export const gsm8k: Demonstrator<{ solution: string }> = ({ solution }) => {
  // The expressions are at the odd places.
  const parts = solution.split(/<<([^=>]*)=[^>]*>>/);
  return parts.flatMap((part, index): Scripted[] => {
    if (index % 2 === 1) return [];
    const expression = parts[index + 1]?.replace('//', '/');
    if (expression === undefined) return [part];
    const call = { id: `call-${index}`, ...calculate(expression) };
    return [{ text: part.trim(), toolCalls: [call], stopReason: 'tool_call' }];
  });
};

interface ShopTask {
  question: string;
  query: string;
  answer: string | number;
}

/** sql-v1: the query at once, or after a look at a table; joins in either order; and two forms of answer. */
export const sql: Demonstrator<ShopTask> = ({ query, answer }, rng) => {
  const line = query.replaceAll(/\s+/g, ' ');
  const chosen =
    rng.float() < 0.5
      ? line
      : line.replace(
          'item JOIN product ON product.id = product_id',
          'product JOIN item ON product_id = product.id',
        );
  const looks =
    rng.float() < 0.25 ? [[select(`SELECT * FROM ${/FROM (\w+)/.exec(chosen)![1]} LIMIT 3`)]] : [];
  const before = rng.pick(['', 'The answer is ']);
  return [...looks, [select(chosen)], `${before}<answer>${answer}</answer>`];
};

/** `How many purchases did`. */
export const kindOfQuestion: KindOf<ShopTask> = ({ question }) => question.split(' ').slice(0, 4).join(' ');

function select(sql: string) {
  return { name: 'query', arguments: { sql } };
}

/** bridge-v1: searches for the names of the hops, or for the question first; and two forms of answer. */
export const bridge: Demonstrator<QaTask> = (task, rng) => {
  const titles = goldTitles(task);
  const queries = [...(rng.float() < 0.25 ? [task.question] : []), ...titles];
  const searches = queries.map((query) => [{ name: 'search', arguments: { query } }]);
  const before = rng.pick(['', `According to ${titles.at(-1)}, it is `]);
  return [...searches, `${before}<answer>${task.answer}</answer>`];
};

/** bank-v1: finds the people and lists what they have, in two turns or call by call, asks where the oracle does, and closes the case. */
export const bank: Demonstrator<BankTask> = (task, rng) => {
  const { request, customer, database } = task;
  const ownerOf = (account: string) => database.accounts.find(({ id }) => id === account)!.owner;
  const people = new Set([customer]);
  if (request.name === 'transfer') {
    const { from, to } = request.arguments;
    people.add(ownerOf(from)).add(ownerOf(to));
  }
  const lists = {
    transfer: ['list_accounts'],
    set_frozen: ['list_cards'],
    set_limit: ['list_cards', 'list_accounts'],
  }[request.name];
  const looks = [...people].map((id) => {
    const { name } = database.customers.find((each) => each.id === id)!;
    const find = { name: 'find_customer', arguments: { name } };
    return { find, listing: lists.map((list) => ({ name: list, arguments: { customer: id } })) };
  });
  const calls =
    rng.float() < 0.5
      ? [looks.map(({ find }) => find), looks.flatMap(({ listing }) => listing)]
      : looks.flatMap(({ find, listing }) => [find, ...listing]).map((call) => [call]);
  const question = rng.pick([
    'Which account shall I use, and do you confirm?',
    'Do you confirm, and from which account?',
  ]);
  const asks = mustAsk(task) ? [question] : [];
  return [...calls, ...asks, ...goldCalls(task).map((call) => [call])];
};
