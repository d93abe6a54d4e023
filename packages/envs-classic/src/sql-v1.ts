/** `sql-v1`: questions about a database, which a tool queries in SQL. */
import { createRng, defineTool, defineToolEnv, deriveSeed, type Tool, text } from '@toolenv/core';
import sqlite from 'node-sqlite3-wasm';
import { generatedTasks } from './generated-tasks.ts';
import { type QueryResult, QueryWorker } from './sql/query-worker.ts';
import { questions } from './sql/questions.ts';
import { createShop, schema } from './sql/shop.ts';

const instruction = `Answer the question about the database of a shop. Use the tool query to read it.
End with the answer, a number or a name, in <answer></answer>.

${schema}`;

function queryTool(worker: QueryWorker, script: string, maxRows: number): Tool<{ sql: string }> {
  return defineTool({
    name: 'query',
    description: 'Runs a SELECT statement of SQLite. Long results are cut.',
    inputSchema: {
      type: 'object',
      properties: { sql: { type: 'string' } },
      required: ['sql'],
      additionalProperties: false,
    },
    async execute({ sql }) {
      const result = await worker.query({ script, sql, maxRows });
      if ('error' in result) return { ...text(`${result.error}.`), isError: true };
      return text(table(result, maxRows));
    },
  });
}

function table({ columns, rows }: Extract<QueryResult, { rows: unknown }>, maxRows: number): string {
  if (rows.length === 0) return 'No rows.';
  const shown = rows.slice(0, maxRows).map((row) => row.map((value) => String(value ?? 'NULL')));
  const lines = [columns, ...shown].map((values) => values.join(' | '));
  return [...lines, ...(rows.length > maxRows ? ['(more rows)'] : [])].join('\n');
}

/** The text in the last pair of tags. */
function readAnswer(text = ''): string | undefined {
  const end = text.lastIndexOf('</answer>');
  const start = text.slice(0, Math.max(0, end)).lastIndexOf('<answer>');
  return start < 0 ? undefined : text.slice(start + '<answer>'.length, end).trim();
}

/** Equal as numbers, or as texts in any case. */
function isRight(given: string | undefined, answer: string | number): boolean {
  if (given === undefined || given === '') return false;
  if (typeof answer === 'number') return Number(given.replaceAll(',', '')) === answer;
  return given.toLowerCase() === answer.toLowerCase();
}

export default defineToolEnv({
  name: 'sql-v1',
  description: 'Questions about a shop, answered by SQL queries of its SQLite database.',
  options: {
    properties: {
      tasks: { type: 'integer', minimum: 1, default: 10_000, description: 'number of training tasks' },
      purchases: {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        default: 40,
        description: 'purchases in a database',
      },
      maxRows: {
        type: 'integer',
        minimum: 1,
        default: 20,
        description: 'rows of a result that the model sees',
      },
      queryTimeout: {
        type: 'integer',
        minimum: 1,
        default: 1000,
        description: 'milliseconds that a query may take',
      },
    },
  },
  prompts: { system: instruction },
  limits: { maxTurns: 8, maxCallsPerTurn: 4 },
  setup: ({ options }) => new QueryWorker(options.queryTimeout),
  teardown: (worker) => worker.close(),
  /** Each task has its own database. */
  tasks: ({ options: { tasks, purchases }, seed }) =>
    generatedTasks(tasks, (split, index) => drawShopTask(deriveSeed(seed, split, index), purchases)),
  rewards: {
    correct: {
      kind: 'outcome',
      score: ({ answer, task }) => Number(isRight(readAnswer(answer), task.answer)),
    },
    /** Whether there was an answer in tags. */
    format: { kind: 'outcome', weight: 0, score: ({ answer }) => Number(Boolean(readAnswer(answer))) },
  },
  episode: ({ prompt, task, shared: worker, options }) => ({
    messages: [
      { role: 'system', content: prompt('system') },
      { role: 'user', content: task.question },
    ],
    tools: [queryTool(worker, createShop(task.shop, options.purchases).script, options.maxRows)],
  }),
  oracle: ({ query, answer }) => [
    [{ name: 'query', arguments: { sql: query } }],
    `<answer>${answer}</answer>`,
  ],
  label: ({ answer }) => String(answer),
});

/** A shop, a question, and the answer, which SQLite computes. */
export interface ShopTask {
  /** Seed of the shop. */
  shop: number;
  question: string;
  /** Gives the answer as the first value of its first row. */
  query: string;
  answer: string | number;
}

/** Draws a question that has one answer. Questions with a tie, with the answer 0, or about nothing are drawn again. */
export function drawShopTask(seed: number, purchases: number): ShopTask {
  const rng = createRng(seed, 'question');
  const shop = createShop(seed, purchases);
  const database = new sqlite.Database(':memory:');
  try {
    database.exec(shop.script);
    for (;;) {
      const drawn = rng.pick(questions)(rng, shop);
      const [first, second] = database.all(drawn.query).map((row) => Object.values(row));
      if (!first?.[0] || (second && first[1] === second[1])) continue;
      return { shop: seed, ...drawn, answer: first[0] as string | number };
    }
  } finally {
    database.close();
  }
}
