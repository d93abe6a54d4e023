/** Mistakes in files of tasks, and in how their rows become tasks. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import type { Mistake } from './mistake.ts';

const quiz = `
import { defineToolEnv } from '@toolenv/core';
import { dataset } from '@toolenv/dataset';

const map = (row: { country: string; capital: string }) => ({ country: row.country, capital: row.capital });

export default defineToolEnv({
  name: 'quiz-v1',
  description: 'Name a capital.',
  tasks: { train: dataset(new URL('rows.csv', import.meta.url), { map }) },
  rewards: { right: { kind: 'outcome', score: ({ answer, task }) => Number(answer === task.capital) } },
  episode: ({ task }) => ({ messages: \`What is the capital of \${task.country}?\` }),
  oracle: ({ capital }) => [capital],
});
`;

export const rows = { 'rows.csv': 'country,capital\nPeru,Lima\nKenya,Nairobi\n' };

export const right: Readonly<Record<string, string>> = { quiz };

export const mistakes: readonly Mistake[] = [
  {
    did: 'a file that is not there',
    in: quiz,
    edits: [["'rows.csv'", "'row.csv'"]],
    files: rows,
    says: /Cannot read .*row\.csv .*give the path of a file that exists/,
  },
  {
    did: 'a column that is not there',
    in: quiz,
    edits: [
      ['row.capital }', 'row.capitol }'],
      ['capital: string }', 'capitol: string }'],
    ],
    files: rows,
    says: /rows\.csv, line 2: map failed \(it gave no value for "capital"\. The columns are country, capital/,
  },
  {
    did: 'a column of a CSV taken for a number',
    in: quiz,
    edits: [
      ['row: { country: string; capital: string }', 'row: { country: string; capital: number }'],
      ['Number(answer === task.capital)', 'Number(Number(answer) === task.capital)'],
      ['[capital]', '[String(capital)]'],
    ],
    files: { 'rows.csv': 'country,capital\n1+1,2\n2+2,4\n' },
    says: /"right" 1 for the oracle on \{"country":"1\+1","capital":"2"\}/,
  },
  {
    did: 'a file with only its head',
    in: quiz,
    edits: [],
    files: { 'rows.csv': 'country,capital\n' },
    says: /rows\.csv has no rows: give a file that has at least one/,
  },
  {
    did: 'a line with a field too many',
    in: quiz,
    edits: [],
    files: { 'rows.csv': 'country,capital\nPeru,Lima\nBonaire, Saint Eustatius and Saba,Kralendijk\n' },
    says: /rows\.csv, line 3 is not CSV \(.*columns length is 2, got 3/,
  },
  {
    did: 'a broken line of JSON',
    in: quiz,
    edits: [["'rows.csv'", "'rows.jsonl'"]],
    files: { 'rows.jsonl': '{"country":"Peru","capital":"Lima"}\n{"country":"Kenya","capital":"Nairobi"\n' },
    says: /rows\.jsonl, line 2 is not JSON/,
  },
  {
    did: 'a split whose value is not in the file',
    in: quiz,
    edits: [['{ map }', "{ map, only: { country: 'peru' } }"]],
    files: rows,
    says: /rows\.csv has no rows with \{"country":"peru"\}/,
  },
  {
    did: 'a file of an unknown kind',
    in: quiz,
    edits: [["'rows.csv'", "'rows.xlsx'"]],
    files: { 'rows.xlsx': 'PK' },
    says: /rows\.xlsx is of no known format: give a file that ends with/,
  },
  {
    did: 'a map without a return',
    in: quiz,
    edits: [
      [
        '=> ({ country: row.country, capital: row.capital });',
        '=> { ({ country: row.country, capital: row.capital }); };',
      ],
      ['answer === task.capital', 'answer === (task as any).capital'],
      ['${task.country}', '${(task as any).country}'],
      ['({ capital }) => [capital]', '(task) => [(task as any).capital]'],
    ],
    files: rows,
    says: /rows\.csv, line 2: map returned undefined\. Return a task/,
  },
];
