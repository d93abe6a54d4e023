/** Attacks on the file that an evaluation is compared with. */
import { execFileSync } from 'node:child_process';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fixture } from '../../../packages/cli/test/fixture.ts';
import { startCli } from '../../../packages/cli/test/start-cli.ts';
import { type Attack, holds, within } from './attack.ts';

const task = { index: 0, digest: 'a', question: 'b', reward: [1], scores: { em: [1] } };
const deep = `${'['.repeat(1e5)}${']'.repeat(1e5)}`;

export const evaluations: Attack[] = [
  baseline('of a gigabyte', async (file) => {
    await writeFile(file, '');
    await truncate(file, 2 ** 30);
  }),
  baseline('that is a pipe', async (file) => void execFileSync('mkfifo', [file])),
  baseline('whose end is cut off', (file) => writeFile(file, JSON.stringify({ tasks: [task] }).slice(0, -9))),
  baseline('with 100,000 nested lists', (file) => writeFile(file, `{"tasks": ${deep}}`)),
  baseline('with an infinite score', (file) =>
    writeFile(file, JSON.stringify({ tasks: [task] }).replace('[1]', '[1e999]')),
  ),
  baseline('with a million damaged tasks', (file) =>
    writeFile(file, `{"tasks": [${'{"index": 0},'.repeat(1e6)}{}]}`),
  ),
  baseline('whose scores have other names', (file) =>
    writeFile(file, JSON.stringify({ tasks: [{ ...task, scores: { ['__proto__']: [1] } }] })),
  ),
];

function baseline(what: string, write: (file: string) => Promise<void>): Attack {
  return {
    name: `a baseline ${what}`,
    attack: `an evaluation is compared with a file ${what}`,
    expected: 'one line says what is wrong and what to give, with exit code 2, and nothing is played',
    async run(folder) {
      const file = join(folder, 'last.json');
      await write(file);
      const args = ['eval', fixture.env, '--policy', fixture.policy, '--against', file, '--metric', 'em'];
      const { code, stderr } = await within(30_000, startCli(args).finished);
      holds(code === 2, `exit code ${code}: ${stderr}`);
      holds(/^toolenv: [^\n]+\n$/.test(stderr) && stderr.length < 2000, `wrote ${stderr}`);
    },
  };
}
