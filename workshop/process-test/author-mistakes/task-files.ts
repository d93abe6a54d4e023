/** Mistakes in files of tasks, and in how their rows become tasks. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of modules
import { type Mistake, mistakesIn } from './mistake.ts';

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

export const mistakes: readonly Mistake[] = mistakesIn(
  quiz,
  {
    'a file that is not there': [
      ["'rows.csv'", "'row.csv'"],
      /Cannot read .*row\.csv .*give the path of a file that exists/,
    ],
    'a column that is not there': [
      ['row.capital }', 'row.capitol }'],
      ['capital: string }', 'capitol: string }'],
      /rows\.csv, line 2: map failed \(it gave no value for "capital"\. The columns are country, capital/,
    ],
    'a column of a CSV taken for a number': [
      ['row: { country: string; capital: string }', 'row: { country: string; capital: number }'],
      ['Number(answer === task.capital)', 'Number(Number(answer) === task.capital)'],
      ['[capital]', '[String(capital)]'],
      { 'rows.csv': 'country,capital\n1+1,2\n2+2,4\n' },
      /"right" 1 for the oracle on \{"country":"1\+1","capital":"2"\}/,
    ],
    'a file with only its head': [
      { 'rows.csv': 'country,capital\n' },
      /rows\.csv has no rows: give a file that has at least one/,
    ],
    'a line with a field too many': [
      { 'rows.csv': 'country,capital\nPeru,Lima\nBonaire, Saint Eustatius and Saba,Kralendijk\n' },
      /rows\.csv, line 3 is not CSV \(.*columns length is 2, got 3/,
    ],
    'a broken line of JSON': [
      ["'rows.csv'", "'rows.jsonl'"],
      { 'rows.jsonl': '{"country":"Peru","capital":"Lima"}\n{"country":"Kenya","capital":"Nairobi"\n' },
      /rows\.jsonl, line 2 is not JSON/,
    ],
    'a split whose value is not in the file': [
      ['{ map }', "{ map, only: { country: 'peru' } }"],
      /rows\.csv has no rows with \{"country":"peru"\}/,
    ],
    'a file of an unknown kind': [
      ["'rows.csv'", "'rows.xlsx'"],
      { 'rows.xlsx': 'PK' },
      /rows\.xlsx is of no known format: give a file that ends with/,
    ],
    'a map without a return': [
      [
        '=> ({ country: row.country, capital: row.capital });',
        '=> { ({ country: row.country, capital: row.capital }); };',
      ],
      ['answer === task.capital', 'answer === (task as any).capital'],
      ['${task.country}', '${(task as any).country}'],
      ['({ capital }) => [capital]', '(task) => [(task as any).capital]'],
      /rows\.csv, line 2: map returned undefined\. Return a task/,
    ],
  },
  { files: rows },
);
