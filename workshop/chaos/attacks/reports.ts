/** Attacks on `toolenv view --export`: runs of others, and files that must not be replaced. */
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeTrajectory } from '@toolenv/core/recording';
import type { Finished } from '../../../packages/cli/test/captured.ts';
import { runCliIn } from '../../../packages/cli/test/run-cli.ts';
import { cli } from '../../../packages/cli/test/start-cli.ts';
import buildPage from '../../../packages/view/browser-test/build-page.ts';
import { episodeOf, makeRun } from '../../../packages/view/browser-test/make-run.ts';
import { type Attack, holds, within } from './attack.ts';

const root = join(import.meta.dirname, '../../..');
const page = join(root, 'packages/view/dist/report-page/report.js');
const refused = 'the command ends with one line, and what is there stays as it is';
const evil =
  '</script><script>window.ran = 1</script><img src=x onerror="window.ran = 1">\u2028\u001b]0;x\u0007';
/** Bytes that a report may have. */
const most = 3_000_000;

export const reports: Attack[] = [
  {
    name: 'a hostile run',
    attack: 'a run has HTML in all its texts, damaged lines, and keys such as __proto__',
    expected: 'the report has its texts only as data, and no control character is printed',
    async run(folder) {
      const run = await hostileRun(folder);
      const { code, stdout, stderr } = await exported(folder, run, 'report.html');
      holds(code === 0, `exit code ${code}: ${stderr}`);
      const html = await readFile(join(folder, 'report.html'), 'utf8');
      holds(!html.includes('window.ran'), 'a text of the run is a part of the document');
      holds(!/[\p{Cc}]/u.test((stdout + stderr).replaceAll('\n', '')), 'a control character is printed');
      holds(!('ran' in {}), 'a key of the run changed the prototype of objects');
    },
  },
  {
    name: 'a run that is too large',
    attack:
      'the configuration, an episode and the names of metrics have megabytes that no compression makes small',
    expected: 'the report has at most 3 MB',
    async run(folder) {
      const run = join(folder, 'run');
      await makeRun(run, { steps: 1, seed: 1 });
      const noise = () => randomBytes(3_000_000).toString('base64');
      const config = JSON.parse(await readFile(join(run, 'config.json'), 'utf8'));
      await writeFile(join(run, 'config.json'), JSON.stringify({ ...config, note: noise() }));
      const episode = episodeOf(2, 0);
      episode.steps[1]!.action.text = noise();
      await appendFile(join(run, 'trajectories.jsonl'), `${encodeTrajectory(episode)}\n`);
      const line = { type: 'update', step: 2, metrics: { [noise()]: 1 } };
      await appendFile(join(run, 'metrics.jsonl'), `${JSON.stringify(line)}\n`);
      const { code, stderr } = await exported(folder, run, 'report.html');
      holds(code === 0, `exit code ${code}: ${stderr}`);
      const { size } = statSync(join(folder, 'report.html'));
      holds(size <= most, `the report has ${size} bytes`);
    },
  },
  {
    name: 'pipes in a run',
    attack: 'the files of a run are pipes that nobody writes to',
    expected: 'the command ends',
    async run(folder) {
      const names = [
        'config.json',
        'trajectories.jsonl',
        'metrics.jsonl',
        'tokens.jsonl',
        'changes.jsonl',
        'end.json',
      ];
      for (const [index, name] of names.entries()) {
        const run = join(folder, `run-${index}`);
        await makeRun(run, { steps: 1, seed: 1 });
        execFileSync('rm', ['-f', join(run, name)]);
        execFileSync('mkfifo', [join(run, name)]);
        const { code, stderr } = await exported(folder, run, `report-${index}.html`);
        holds(code === 0 || isOneLine(stderr), `${name}: exit code ${code}: ${stderr}`);
      }
    },
  },
  ...[
    { what: 'a pipe', make: (file: string) => void execFileSync('mkfifo', [file]) },
    { what: 'a folder', make: (file: string) => mkdir(file) },
    { what: 'a file of somebody', make: (file: string) => writeFile(file, '<html>thesis</html>') },
    {
      what: 'a link to a file of somebody',
      make: async (file: string) => {
        await writeFile(`${file}.thesis`, '<html>thesis</html>');
        await symlink(`${file}.thesis`, file);
      },
    },
  ].map(
    ({ what, make }): Attack => ({
      name: `over ${what}`,
      attack: `the report is to be written where ${what} is`,
      expected: refused,
      async run(folder) {
        const run = join(folder, 'run');
        await makeRun(run, { steps: 1, seed: 1 });
        await make(join(folder, 'report.html'));
        const before = await contents(folder);
        const { code, stderr } = await exported(folder, run, 'report.html');
        holds(code === 2 && isOneLine(stderr), `exit code ${code}: ${stderr}`);
        holds((await contents(folder)) === before, 'something was replaced or left');
      },
    }),
  ),
  {
    name: 'no room',
    attack: 'the disk takes only the first bytes of the report, where an earlier report is',
    expected: refused,
    async run(folder) {
      await ensurePage();
      const run = join(folder, 'run');
      await makeRun(run, { steps: 1, seed: 1 });
      await writeFile(join(folder, 'report.html'), '<!doctype html> an earlier report');
      const before = await contents(folder);
      const args = [process.execPath, cli, 'view', run, '--export', join(folder, 'report.html')];
      const { code, stderr } = await limited(args);
      holds(code === 1 && isOneLine(stderr), `exit code ${code}: ${stderr}`);
      holds((await contents(folder)) === before, 'something was replaced or left');
    },
  },
  {
    name: 'no folder',
    attack: 'the folder of the report cannot be made',
    expected: 'the command ends with one line',
    async run(folder) {
      const run = join(folder, 'run');
      await makeRun(run, { steps: 1, seed: 1 });
      const { code, stderr } = await exported(folder, run, '/proc/toolenv/report.html');
      holds(code !== 0 && isOneLine(stderr), `exit code ${code}: ${stderr}`);
    },
  },
];

/** The page of reports is built once. */
async function ensurePage(): Promise<void> {
  if (!existsSync(page)) await buildPage();
}

async function exported(folder: string, run: string, file: string): Promise<Finished> {
  await ensurePage();
  return within(60_000, runCliIn(folder, 'view', run, '--export', file));
}

/** In a process whose files may not grow beyond 64 KB. */
async function limited(args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve) => {
    const command = ['-c', 'ulimit -f 64; exec "$@"', 'bash', ...args];
    const child = execFile('bash', command, { cwd: root }, (_error, _stdout, stderr) =>
      resolve({ code: child.exitCode, stderr }),
    );
  });
}

async function hostileRun(folder: string): Promise<string> {
  const run = join(folder, 'run');
  await mkdir(run);
  const config = JSON.stringify({ env: evil, policy: evil, trainerOptions: { [evil]: evil } });
  await writeFile(
    join(run, 'config.json'),
    config.replace('{', '{"__proto__":{"ran":1},"constructor":{"ran":1},'),
  );
  const episode = episodeOf(1, 0);
  const { steps } = episode;
  steps[1]!.action.text = evil;
  steps[0]!.calls[0]!.text = evil;
  steps[0]!.calls[0]!.call = { id: evil, name: '__proto__', arguments: { [evil]: evil } };
  const lines = [
    encodeTrajectory({ ...episode, env: evil, task: { answer: evil } }),
    '{"version":1}',
    'null',
    evil,
  ];
  await writeFile(join(run, 'trajectories.jsonl'), lines.map((line) => `${line}\n`).join(''));
  const metrics = [
    { type: 'rollout', step: 1, metrics: { reward: 'NaN', [evil]: null, 'rewards/__proto__/mean': 1 } },
    { type: evil, step: -1, metrics: null },
  ];
  await writeFile(join(run, 'metrics.jsonl'), metrics.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return run;
}

/** What is in a folder, apart from the run: names, kinds and texts. */
async function contents(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  const described = entries
    .filter(({ name }) => name !== 'run')
    .map(async (entry) => {
      const isFile = entry.isFile() || entry.isSymbolicLink();
      const text = isFile ? await readFile(join(folder, entry.name), 'utf8') : '';
      return [entry.name, entry.isFIFO(), entry.isDirectory(), entry.isSymbolicLink(), text];
    });
  return JSON.stringify(await Promise.all(described));
}

function isOneLine(stderr: string): boolean {
  const lines = stderr.split('\n').filter((line) => line.startsWith('toolenv:'));
  return lines.length === 1 && !/^\s+at .*:\d+/m.test(stderr);
}
