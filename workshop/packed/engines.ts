/** Compute engines in the hands of a stranger: without a package, without a PyTorch, and with the PyTorch that TOOLENV_LIBTORCH names. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from './attempt.ts';
import type { Sandbox } from './sandbox.ts';
import { seed } from './seed.ts';
import { checkpoint, few, trainTwoSteps } from './templates.ts';

const packages = ['toolenv', '@toolenv/envs-classic', '@toolenv/policy', '@toolenv/trainer-grpo'];
const install = ['engine', 'install', 'libtorch'];
const training = [
  '@toolenv/envs-classic/arithmetic-v1',
  ...few,
  '--runtime',
  'libtorch',
  '--precision',
  'bfloat16',
];

interface Row {
  engine: string;
  available: boolean;
  about: string;
  remedy?: string;
}

export async function checkEngines(sandbox: Sandbox): Promise<void> {
  const { run } = sandbox;
  const folder = join(sandbox.folder, 'engines');
  const empty = join(sandbox.folder, 'no-programs');
  for (const each of [folder, empty]) await mkdir(each);
  await seed(folder, sandbox);
  await writeFile(join(folder, 'package.json'), '{"name":"stranger","private":true}');
  await writeFile(join(folder, '.npmrc'), 'ignore-scripts=true\n');
  const npmInstall = (...names: string[]) => run('npm', ['install', ...names], folder);
  if (!(await attempt('engines: npm install', () => npmInstall(...packages)))) return;
  await cp(checkpoint, join(folder, 'checkpoint'), { recursive: true });

  const toolenv = (...words: string[]) => run('npx', ['toolenv', ...words], folder);
  // A machine without Python, uv and PyTorch.
  const nothing = ['TOOLENV_LIBTORCH', 'TOOLENV_PYTHON', 'VIRTUAL_ENV', 'CONDA_PREFIX'].map(
    (name) => `${name}=`,
  );
  const without = [
    ...nothing,
    `PATH=${empty}`,
    `XDG_CACHE_HOME=${empty}`,
    process.execPath,
    'node_modules/toolenv/dist/main.js',
  ];
  const bare = (...words: string[]) => run('env', [...without, ...words], folder);
  const failing = [...training, '--policy', 'checkpoint', '--out', 'runs/failing'];
  const libtorch = async (run: (...words: string[]) => Promise<string>, expected: Partial<Row>) => {
    const rows: Row[] = JSON.parse(await run('engine', '--json'));
    const row = rows.find(({ engine }) => engine === 'libtorch cpu');
    const isAsExpected = Object.entries(expected).every(
      ([name, value]) => row?.[name as keyof Row] === value,
    );
    if (!isAsExpected) throw new Error(`${JSON.stringify(row)} is not ${JSON.stringify(expected)}`);
  };

  await attempt('engines: without the package, toolenv engine names it', async () => {
    const about = '@toolenv/libtorch is not installed';
    await libtorch(bare, { available: false, about, remedy: 'npm install @toolenv/libtorch' });
    await says(
      bare(...install),
      'toolenv engine install libtorch needs @toolenv/libtorch: npm install @toolenv/libtorch',
    );
    await says(
      bare('train', ...failing),
      '@toolenv/libtorch is not installed: npm install @toolenv/libtorch.',
    );
  });
  if (!(await attempt('engines: npm install @toolenv/libtorch', () => npmInstall('@toolenv/libtorch'))))
    return;
  await attempt('engines: without a PyTorch, the messages name the remedy', async () => {
    await libtorch(bare, {
      available: false,
      about: 'no PyTorch was found',
      remedy: install.join(' ').replace('engine', 'toolenv engine'),
    });
    await says(
      bare('train', ...failing),
      'toolenv: No PyTorch was found (looked in python3, python): run toolenv engine install libtorch, or pip install torch, or set TOOLENV_LIBTORCH to the folder lib of a PyTorch.\n',
    );
    await says(
      bare(...install),
      `by https into ${join(empty, 'toolenv', 'libtorch', '2.15.0')}. PyTorch is under the BSD-3-Clause licence; NVIDIA's packages have NVIDIA's own licence. Give --yes.\n`,
    );
  });

  const named = process.env.TOOLENV_LIBTORCH;
  if (!named) return console.log('skipped engines: with a PyTorch (TOOLENV_LIBTORCH names none)');
  await attempt('engines: toolenv engine, with a PyTorch', () => libtorch(toolenv, { available: true }));
  await attempt('engines: toolenv engine install libtorch, with a PyTorch', async () => {
    const said = await toolenv(...install);
    if (!said.endsWith(` of TOOLENV_LIBTORCH is here already, and is used: ${named}\n`))
      throw new Error(said);
  });
  await attempt('engines: toolenv train --runtime libtorch', () =>
    trainTwoSteps(folder, 'runs/libtorch', training, toolenv),
  );
}

/** The command fails, and its output has this text. */
async function says(failing: Promise<string>, text: string): Promise<void> {
  const output = await failing.then(
    () => 'no error',
    (error: Error) => error.message,
  );
  if (!output.includes(text)) throw new Error(`${output} does not say: ${text}`);
}
