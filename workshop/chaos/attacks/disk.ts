/** Disks that take no more bytes, and folders that cannot be made. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fixture } from '../../../packages/cli/test/fixture.ts';
import { cli, startCli } from '../../../packages/cli/test/start-cli.ts';
import { type Attack, holds } from './attack.ts';
import { trainArgs } from './train-args.ts';

const oneLine = 'one line names what cannot be written, and the remedy';

/** Steps or episodes whose lines are longer than any file may be. */
const many = '400';
const evalArgs = (...more: string[]) => [
  'eval',
  fixture.env,
  '--policy',
  fixture.policy,
  '--size',
  many,
  '--count',
  many,
  ...more,
];

export const disk: Attack[] = [
  noRoom('the episodes of training', (out) => trainArgs(out, '--steps', many)),
  noRoom('the metrics of training', (out) => trainArgs(out, '--steps', many, '--no-trajectories')),
  noRoom('the metrics for TensorBoard', (out) =>
    trainArgs(out, '--steps', many, '--no-trajectories', '--tensorboard'),
  ),
  noRoom('the episodes of an evaluation', (out) => evalArgs('--out', out)),
  ...[
    { what: 'training', args: trainArgs('/proc/toolenv') },
    { what: 'training, below a file,', args: trainArgs('/dev/null/run') },
    { what: 'an evaluation', args: evalArgs('--out', '/proc/toolenv') },
    {
      what: 'a recording',
      // Its tools can be recorded.
      args: [
        'eval',
        '@toolenv/envs-qa/lookup-v1',
        '--policy',
        fixture.policy,
        '--record',
        '/proc/toolenv/calls.jsonl',
      ],
    },
  ].map(
    ({ what, args }): Attack => ({
      name: `no folder for ${what}`,
      attack: `the folder of ${what} cannot be made`,
      expected: oneLine,
      async run() {
        const { code, stderr } = await startCli(args).finished;
        refusedInOneLine(code, stderr);
      },
    }),
  ),
];

/** A file that may not grow beyond 16 KB stands for a full disk, which only root can make. */
function noRoom(what: string, args: (out: string) => string[]): Attack {
  return {
    name: `full disk, ${what}`,
    attack: `there is no room for ${what}`,
    expected: oneLine,
    async run(folder) {
      const node = [process.execPath, cli];
      const command = ['-c', 'ulimit -f 16; exec "$@"', 'bash', ...node, ...args(join(folder, 'run'))];
      const { code, stderr } = await new Promise<{ code: number | null; stderr: string }>((resolve) => {
        const child = execFile('bash', command, { cwd: fixture.folder }, (_error, _stdout, written) =>
          resolve({ code: child.exitCode, stderr: written }),
        );
      });
      refusedInOneLine(code, stderr);
    },
  };
}

function refusedInOneLine(code: number | null, stderr: string): void {
  holds(code === 1 || code === 2, `ended with exit code ${code}`);
  const lines = stderr.split('\n').filter((line) => line.startsWith('toolenv:'));
  holds(/written|made|folder|E[A-Z]{4,}/.test(lines[0] ?? ''), `wrote ${stderr.slice(-400)}`);
  holds(lines.length === 1 && !/^\s+at .*:\d+/m.test(stderr), `wrote ${stderr.slice(-400)}`);
}
