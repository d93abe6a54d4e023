/** A disk that is full, and folders that cannot be written. */
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fixture, runCli } from '../../../packages/cli/test/run-cli.ts';
import { type Attack, holds } from './attack.ts';
import { trainArgs } from './train-args.ts';

const oneLine = 'one line names the file and the remedy';

const evalArgs = (...more: string[]) => [
  'eval',
  fixture.env,
  '--policy',
  fixture.policy,
  '--count',
  '4',
  ...more,
];

export const disk: Attack[] = [
  ...['metrics.jsonl', 'trajectories.jsonl', 'tensorboard'].map(
    (file): Attack => ({
      name: `full disk at ${file}`,
      attack: `the disk is full when training writes ${file}`,
      expected: oneLine,
      async run(folder) {
        const out = join(folder, 'run');
        // A run of one step that made the folder.
        await runCli(...trainArgs(out, '--steps', '2', '--tensorboard'));
        await full(out, file);
        await refused(trainArgs(out, '--resume', '--tensorboard'), 'train');
      },
    }),
  ),
  {
    name: 'full disk at the episodes of eval',
    attack: 'the disk is full when eval writes its episodes',
    expected: oneLine,
    async run(folder) {
      await symlink('/dev/full', join(folder, 'trajectories.jsonl'));
      await refused(evalArgs('--out', folder), 'eval');
    },
  },
  {
    name: 'full disk at a recording',
    attack: 'the disk is full when eval records the calls of tools',
    expected: oneLine,
    run: () => refused(evalArgs('--record', '/dev/full'), 'eval'),
  },
  ...[
    ['train', trainArgs('/proc/toolenv')],
    ['train under a file', trainArgs('/dev/null/run')],
    ['eval', evalArgs('--out', '/proc/toolenv')],
  ].map(
    ([name, args]): Attack => ({
      name: `folder that cannot be made: ${name}`,
      attack: `${name} writes into a folder that cannot be made`,
      expected: oneLine,
      run: () => refused(args as string[], String(name)),
    }),
  ),
];

/** Replaces a file by one on a full disk, and a folder by a file. */
async function full(out: string, file: string): Promise<void> {
  await rm(join(out, file), { recursive: true, force: true });
  if (file.includes('.')) await symlink('/dev/full', join(out, file));
  else {
    await mkdir(out, { recursive: true });
    await writeFile(join(out, file), '');
  }
}

async function refused(args: string[], what: string): Promise<void> {
  const { code, stderr } = await runCli(...args);
  holds(code === 1 || code === 2, `${what} ended with exit code ${code}`);
  const lines = stderr.split('\n').filter((line) => line.startsWith('toolenv:'));
  holds(lines.length === 1 && !/^\s+at .*:\d+/m.test(stderr), `${what} wrote ${stderr.slice(0, 300)}`);
}
