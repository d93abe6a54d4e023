/** The conversations of the README happen as it says. */
import { readFile } from 'node:fs/promises';
import {
  type EnvDefinition,
  isParseFailure,
  openEnv,
  type Script,
  type Scripted,
  type Trajectory,
} from '@toolenv/core';
import { expect, test } from 'vitest';
import arithmetic from '../src/arithmetic-v1.ts';
import type { BankTask } from '../src/bank/rules.ts';
import { forbiddingRule } from '../src/bank/rules.ts';
import bank from '../src/bank-v1.ts';
import gsm8k from '../src/gsm8k-v1.ts';
import household from '../src/household-v1.ts';
import sql from '../src/sql-v1.ts';
import toolbox from '../src/toolbox-v1.ts';
import wordle from '../src/wordle-v1.ts';
import { play } from './play.ts';

const readme = readFile(new URL('../README.md', import.meta.url), 'utf8');

async function firstTestTask<Task, Options>(definition: EnvDefinition<Task, Options>): Promise<Task> {
  const env = await openEnv(definition, {}, { seed: 1 });
  const task = await env.tasks.test.get(0);
  await env.close();
  return task;
}

/** The roles and what they say, then the rewards. */
function conversation({ steps, reward, rewards }: Trajectory): string {
  const lines: [speaker: string, said: string][] = [];
  for (const { role, content } of steps[0]!.observation.messages) lines.push([role, content]);
  for (const [index, { action, calls }] of steps.entries()) {
    if (action.text) lines.push(['assistant', action.text]);
    for (const { call, text } of calls) {
      if (isParseFailure(call)) continue;
      lines.push(['assistant', `${call.name}(${JSON.stringify(call.arguments)})`], ['tool', text]);
    }
    const reply = steps[index + 1]?.observation.messages.at(-1);
    if (reply?.role === 'user') lines.push([reply.role, reply.content]);
  }
  const components = Object.entries(rewards).map(([name, value]) => `${name} ${value}`);
  lines.push(['reward', `${reward} (${components.join(', ')})`]);
  return lines.map(([speaker, said]) => `${speaker}: ${said}`).join('\n');
}

async function expectInReadme<Task, Options>(
  definition: EnvDefinition<Task, Options>,
  task: Task,
  script: Script | readonly Scripted[],
): Promise<void> {
  expect(await readme).toContain(`\`\`\`text\n${conversation(await play(definition, task, script))}\n\`\`\``);
}

test('arithmetic-v1', async () => {
  const task = await firstTestTask(arithmetic);
  await expectInReadme(arithmetic, task, arithmetic.oracle!(task)!);
});

test('bank-v1', async () => {
  const env = await openEnv(bank, {}, { seed: 1 });
  const isAsked = (task: BankTask) => task.unsaid && forbiddingRule(task) === undefined;
  const tasks = await Promise.all(Array.from({ length: 50 }, (_, index) => env.tasks.test.get(index)));
  const task = tasks.find(isAsked)!;
  await env.close();
  const [own, other] = task.opening.match(/(?<=I am |of )\w+ \w+(?=\.)/g)!;
  const { customers } = task.database;
  const find = (name: string | undefined) => ({ name: 'find_customer', arguments: { name } });
  const list = (name: string | undefined) => {
    const customer = customers.find((each) => each.name === name)!.id;
    return { name: 'list_accounts', arguments: { customer } };
  };
  const [ask, ...calls] = bank.oracle!(task) as Scripted[];
  const script = [[find(own), find(other)], [list(own), list(other)], ask!, ...calls];
  await expectInReadme(bank, task, script);
});

test('household-v1', async () => {
  const task = await firstTestTask(household);
  await expectInReadme(household, task, household.oracle!(task)!);
});

test('sql-v1', async () => {
  const task = await firstTestTask(sql);
  const call = (sql: string) => [{ name: 'query', arguments: { sql } }];
  const from = 'FROM item JOIN product ON product.id = product_id GROUP BY category';
  await expectInReadme(sql, task, [
    call(`SELECT category, sum(quantity * prize) AS money ${from} ORDER BY money DESC`),
    call(`SELECT category, sum(quantity * price) AS money ${from} ORDER BY money DESC`),
    `<answer>${task.answer}</answer>`,
  ]);
});

test('toolbox-v1', async () => {
  const env = await openEnv(toolbox, {}, { seed: 1 });
  const tasks = await Promise.all(Array.from({ length: 50 }, (_, index) => env.tasks.test.get(index)));
  const task = tasks.find(({ errands }) => errands.length === 1)!;
  await expectInReadme(toolbox, task, toolbox.oracle!(task)!);
});

test('wordle-v1', async () => {
  await expectInReadme(wordle, 'crane', ['grape', 'I try crown.', 'crane']);
});

// The site shows the options: `site/test/reference.test.ts`.
test.each([arithmetic, bank, gsm8k, household, sql, toolbox, wordle])(
  'lists the rewards of $name',
  async ({ rewards }) => {
    for (const [name, { weight }] of Object.entries(rewards))
      expect(await readme).toContain(`| \`${name}\` | ${weight} |`);
  },
);
