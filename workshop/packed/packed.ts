/**
 * `npm run packed`: what would be published, used as a stranger would, in a folder outside the repository.
 *
 * Packs every package, checks the tarballs, and for each template: npm create, install, its tests, its check, list, train.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Packed, serveRegistry } from './registry.ts';

const root = join(import.meta.dirname, '../..');
const scratch = await mkdtemp(join(tmpdir(), 'toolenv-packed-'));
const tally = { passed: 0, failed: 0 };
/** Of every command: nothing is asked, and onnxruntime-node does not look for CUDA. */
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  ONNXRUNTIME_NODE_INSTALL: 'skip',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
  npm_config_cache: join(scratch, 'cache'),
};

/** Few episodes, for trainers that compare groups. */
const few = ['--tasks-per-step', '2', '--group-size', '2'];
const templates = [
  { template: 'env', plugin: 'safe-v1', train: (own: string) => [own, ...few] },
  {
    template: 'tool',
    plugin: 'search-v1',
    train: (own: string) => ['@toolenv/envs-qa/bridge-v1', '--tool', `search=${own}`, ...few],
  },
  {
    template: 'mcp-env',
    plugin: 'warehouse-v1',
    train: (own: string) => [own, '--env-option', 'servers=2', ...few],
  },
  {
    template: 'trainer',
    plugin: 'reinforce-v1',
    train: (own: string) => ['@toolenv/envs-qa/bridge-v1', '--trainer', own, '--episodes-per-step', '4'],
  },
];

try {
  const packages = await pack();
  for (const { file, json } of packages) {
    await attempt(`${json.name}: publint`, () => run('npx', ['publint', file, '--strict'], root));
    await attempt(`${json.name}: are the types wrong`, () =>
      run('npx', ['attw', file, '--profile', 'esm-only', '--format', 'ascii'], root),
    );
  }
  const upstream = (await run('npm', ['config', 'get', 'registry'], root)).trim();
  const registry = await serveRegistry(packages, upstream);
  environment.npm_config_registry = registry.url;
  try {
    await attempt('the types of all packages, skipLibCheck off', () => checkTypes(packages));
    for (const each of templates) await useTemplate(each);
  } finally {
    registry.close();
  }
} finally {
  await rm(scratch, { recursive: true });
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exitCode = tally.failed === 0 ? 0 : 1;

/** Tarballs of all packages, as `npm publish` would send them. */
async function pack(): Promise<Packed[]> {
  const folder = join(scratch, 'tarballs');
  await mkdir(folder);
  await run('npm', ['run', 'build'], root);
  const packed = await run('npm', ['pack', '--workspaces', '--json', '--pack-destination', folder], root);
  const list: { name: string; filename: string }[] = JSON.parse(packed.slice(packed.indexOf('[\n')));
  return Promise.all(
    list.map(async ({ filename }) => {
      const file = join(folder, filename);
      const json = JSON.parse(await run('tar', ['-xOf', file, 'package/package.json'], scratch));
      return { file, json };
    }),
  );
}

/** A program that imports every entry of every package, under the strictest settings that a user may have. */
async function checkTypes(packages: readonly Packed[]): Promise<void> {
  const folder = join(scratch, 'consumer');
  await mkdir(folder);
  const names = packages.map(({ json }) => json.name);
  const entries = packages.flatMap(({ json }) => {
    const { name, exports = {} } = json as { name: string; exports?: Record<string, unknown> };
    return Object.keys(exports)
      .filter((subpath) => subpath !== './package.json')
      .map((subpath) => name + subpath.slice(1));
  });
  const program = entries
    .map((entry, i) => `import * as entry${i} from '${entry}';\nvoid entry${i};\n`)
    .join('');
  const options = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: ['node'],
  };
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['*.ts'] }),
  );
  await writeFile(join(folder, 'consumer.ts'), program);
  await run('npm', ['install', ...names, 'typescript@7.0.2', '@types/node@20.19.43'], folder);
  await run('npx', ['tsc'], folder);
}

async function useTemplate({ template, plugin, train }: (typeof templates)[number]): Promise<void> {
  const name = `@stranger/my-${template}`;
  const own = `${name}/${plugin}`;
  const folder = join(scratch, `my-${template}`);
  const at = (step: string) => `template ${template}: ${step}`;
  const created = await attempt(at('npm create toolenv'), () =>
    run(
      'npm',
      ['create', '--yes', 'toolenv@latest', folder, '--', '--template', template, '--name', name],
      scratch,
    ),
  );
  if (!created || !(await attempt(at('npm install'), () => run('npm', ['install'], folder)))) return;
  await attempt(at('npm test'), () => run('npm', ['test'], folder));
  await attempt(at('npm run check'), () => run('npm', ['run', 'check'], folder));
  await attempt(at('toolenv list'), async () => {
    const listed: { ref: string }[] = JSON.parse(await run('npx', ['toolenv', 'list', '--json'], folder));
    if (!listed.some(({ ref }) => ref === own)) throw new Error(`${own} is not in ${JSON.stringify(listed)}`);
  });
  await cp(join(root, 'workshop/tiny-policy/checkpoint'), join(folder, 'checkpoint'), { recursive: true });
  await attempt(at('toolenv train'), () => trainTwoSteps(folder, 'runs/first', train(own)));
  if (template !== 'env') return;
  await attempt(at('toolenv train, with another trainer'), async () => {
    await run('npm', ['install', '@toolenv/trainer-ppo'], folder);
    await trainTwoSteps(folder, 'runs/second', [own, '--trainer', '@toolenv/trainer-ppo/ppo-v1', ...few]);
  });
}

/** @param args The environment and flags of the trainer. */
async function trainTwoSteps(folder: string, out: string, args: readonly string[]): Promise<void> {
  const flags = ['--policy', 'checkpoint', '--steps', '2', '--max-tokens', '32', '--out', out];
  await run('npx', ['toolenv', 'train', ...args, ...flags], folder);
  const metrics = await readFile(join(folder, out, 'metrics.jsonl'), 'utf8');
  const steps = metrics.match(/"type":"rollout","step":[12]/g) ?? [];
  if (steps.length !== 2) throw new Error(`two steps were wanted: ${metrics}`);
  await readFile(join(folder, out, 'policy/model.safetensors'));
}

/** Whether it went well, which is printed and counted. */
async function attempt(title: string, work: () => Promise<unknown>): Promise<boolean> {
  const started = performance.now();
  const error = await work().then(
    () => undefined,
    (error: unknown) => error,
  );
  tally[error === undefined ? 'passed' : 'failed'] += 1;
  const seconds = `${((performance.now() - started) / 1000).toFixed(1)} s`;
  console.log(
    error === undefined ? `ok      ${title} (${seconds})` : `FAILED  ${title} (${seconds}): ${String(error)}`,
  );
  return error === undefined;
}

/** What the command printed; rejects with it if the command fails. */
function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: environment, maxBuffer: 1 << 26, timeout: 300_000 };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else reject(new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`));
    });
    child.stdin?.end();
  });
}
