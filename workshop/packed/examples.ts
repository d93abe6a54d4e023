/** The examples in the hands of a stranger: a copy of each compiles against the installed packages and passes its check. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from './attempt.ts';
import type { Sandbox } from './sandbox.ts';

const examples = join(import.meta.dirname, '../../examples');

/** The examples that are plugins; their default export is checked. */
const plugins = ['bank', 'best-of-n', 'memory-graph', 'wordle'];
const packages = [
  'toolenv',
  '@toolenv/core',
  '@toolenv/mcp',
  '@toolenv/testing',
  '@toolenv/training',
  '@modelcontextprotocol/server-memory@2026.8.31',
  'typescript@7.0.2',
  '@types/node@20.19.43',
];

export async function checkExamples({ folder: parent, run }: Sandbox): Promise<void> {
  const folder = join(parent, 'examples');
  await mkdir(folder);
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, types: ['node'] };
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  await writeFile(join(folder, '.npmrc'), 'ignore-scripts=true\n');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  for (const name of plugins) await copyFile(join(examples, `${name}.ts`), join(folder, `${name}.ts`));
  const installed = await attempt('examples: npm install', () =>
    run('npm', ['install', ...packages], folder),
  );
  if (!installed || !(await attempt('examples: tsc', () => run('npx', ['tsc'], folder)))) return;
  for (const name of plugins) {
    await attempt(`examples: toolenv check ${name}.js`, () =>
      run('npx', ['toolenv', 'check', `${name}.js`], folder),
    );
  }
}
