/** How `npm run packed` reads a walk-through: its files, its commands in order, and what they must print. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { blocksOf, compareOutputs, scriptOf, walkThroughs } from '../packed/pages.ts';
import { newFolder } from './new-folder.ts';

const fence = '```';
const page = `# Greet

${fence}sh
printf 'one %s\\n' "$((40 + 2))"
${fence}

${fence}text
one …
${fence}

${fence}ts
// greet.ts
console.log(\`$HOME\`);
${fence}

${fence}sh
cat greet.ts
${fence}

${fence}text
// greet.ts
console.log(\`$HOME\`);
${fence}
`;

async function follow(text: string): Promise<string> {
  const cwd = await newFolder();
  return (await promisify(execFile)('bash', ['-c', scriptOf(blocksOf(text))], { cwd })).stdout;
}

test('files are written as they stand, commands run in order, and their outputs are compared', async () => {
  const printed = await follow(page);
  expect(printed).toContain('one 42\n');
  expect(() => compareOutputs(blocksOf(page), printed)).not.toThrow();
  const other = blocksOf(page.replace('one …', 'two …'));
  expect(() => compareOutputs(other, printed)).toThrow(/The page says:\ntwo …\n\nIt printed:\none 42/);
  expect(() => compareOutputs(blocksOf(page), printed.replace('$HOME', '/root'))).toThrow('It printed:');
});

test('a number with decimals may be another, because scores differ by machine', () => {
  const says = (output: string) =>
    blocksOf(`${fence}sh\neval\n${fence}\n\n${fence}text\n${output}\n${fence}\n`);
  const page = says('reward  0.033 (0.009 to 0.114), 60 episodes');
  const printed = (text: string) => () => compareOutputs(page, `${text}\n\u241e\n`);
  expect(printed('reward  0.05 (-0.01 to 0.2), 60 episodes')).not.toThrow();
  expect(printed('reward  1 (0 to 0), 60 episodes')).toThrow('It printed:');
  expect(printed('reward  0.033 (0.009 to 0.114), 6 episodes')).toThrow('It printed:');
});

test('a page shows the numbers that were printed', async () => {
  for (const name of walkThroughs) {
    const text = await readFile(join(import.meta.dirname, `../../docs/${name}.md`), 'utf8');
    expect(text, name).not.toMatch(/\d\.?…|\(… to …\)/);
  }
});

test('a command that fails ends the page', async () => {
  await expect(follow(page.replace('cat greet.ts', 'false'))).rejects.toThrow();
});

test('a block that a reader could not follow is refused', () => {
  expect(() => blocksOf(`${fence}ts\nlet a;\n${fence}\n`)).toThrow('is no file, and no command printed it');
  expect(() => blocksOf(`${fence}text\nprinted\n${fence}\n`)).toThrow('is no file');
});

test.each(walkThroughs)('%s installs published names, checks and trains', async (name) => {
  const text = await readFile(join(import.meta.dirname, `../../docs/${name}.md`), 'utf8');
  const script = scriptOf(blocksOf(text));
  expect(script).toMatch(/^npm install .*@toolenv\/checkpoints/m);
  expect(script).not.toContain('.tgz');
  expect(script).toMatch(/npx toolenv check /);
  expect(script).toContain('runs/first');
});
