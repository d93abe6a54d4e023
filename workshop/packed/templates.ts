/** The templates in the hands of a stranger: npm create, npm install, their tests and checks, and two steps of training. */
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from './attempt.ts';
import type { Sandbox } from './sandbox.ts';
import { seed } from './seed.ts';
import { checkSurvival } from './survive.ts';
import { checkView } from './view.ts';

export const checkpoint: string = join(import.meta.dirname, '../../packages/checkpoints/tiny');

interface Template {
  template: string;
  plugin: string;
  /** The environment and flags of the trainer, for the reference of the template's plugin. */
  train(own: string): string[];
}

/** Few episodes, for trainers that compare groups. */
export const few: readonly string[] = ['--tasks-per-step', '2', '--group-size', '2'];
/** The policy that most templates install for the first run. */
const small: readonly string[] = ['--policy', 'node_modules/@toolenv/checkpoints/small'];
export const templates: readonly Template[] = [
  { template: 'env', plugin: 'safe-v1', train: (own) => [own, ...few, ...small] },
  { template: 'agent', plugin: 'safe-agent-v1', train: (own) => [own, ...few, ...small] },
  {
    template: 'tool',
    plugin: 'search-v1',
    train: (own) => ['@toolenv/envs-qa/bridge-v1', '--tool', `search=${own}`, ...few, ...small],
  },
  {
    template: 'mcp-env',
    plugin: 'warehouse-v1',
    train: (own) => [own, '--env-option', 'maxServers=2', ...few, ...small],
  },
  {
    template: 'trainer',
    plugin: 'reinforce-v1',
    train: (own) => [
      '@toolenv/envs-classic/arithmetic-v1',
      '--trainer',
      own,
      '--tasks-per-step',
      '4',
      ...small,
    ],
  },
];

export async function useTemplate({ template, plugin, train }: Template, sandbox: Sandbox): Promise<void> {
  const { run } = sandbox;
  const name = `@stranger/my-${template}`;
  const own = `${name}/${plugin}`;
  const folder = join(sandbox.folder, `my-${template}`);
  const toolenv = (...words: string[]) => run('npx', ['toolenv', ...words], folder);
  const at = (step: string) => `template ${template}: ${step}`;
  const create = ['create', '--yes', 'toolenv@latest', folder, '--', '--template', template, '--name', name];
  if (!(await attempt(at('npm create toolenv'), () => run('npm', create, sandbox.folder)))) return;
  // All templates have the same .npmrc and allowScripts, so that one is enough.
  if (template === 'env') await checkInstalls(template, folder, sandbox);
  else await seed(folder, sandbox);
  if (!(await attempt(at('npm install'), () => installQuietly(['npm'], [], folder, sandbox)))) return;
  await attempt(at('the scripts of what it installs'), () => checkScripts(folder));
  await attempt(at('npm test'), () => run('npm', ['test'], folder));
  // Each episode of mcp-env starts a server. Its tests play 1,000 actions with a server that episodes share.
  const fewer = template === 'mcp-env' ? ['--', '--actions', '100'] : [];
  await attempt(at('npm run check'), () => run('npm', ['run', 'check', ...fewer], folder));
  await attempt(at('npm run release'), async () => {
    await rm(join(folder, 'dist'), { recursive: true });
    const released = await sandbox.runAll('npm', ['run', 'release', '--', '--dry-run'], folder);
    const badges = template === 'env' || template === 'mcp-env' ? [`certificates/${plugin}.svg`] : [];
    for (const file of [`dist/${plugin}.js`, ...badges])
      if (!released.includes(file)) throw new Error(`${file} is not in ${released}`);
  });
  await attempt(at('toolenv list'), async () => {
    const listed: { ref: string }[] = JSON.parse(await toolenv('list', '--json'));
    if (!listed.some(({ ref }) => ref === own)) throw new Error(`${own} is not in ${JSON.stringify(listed)}`);
  });
  await cp(checkpoint, join(folder, 'checkpoint'), { recursive: true });
  await attempt(at('toolenv train'), () => trainTwoSteps(folder, 'runs/first', train(own), toolenv));
  if (template === 'trainer') {
    const args = ['@toolenv/envs-classic/arithmetic-v1', '--trainer', own];
    await attempt(at('toolenv train, killed, interrupted and resumed'), () => checkSurvival(folder, args));
  }
  if (template !== 'env') return;
  await attempt(at('toolenv view'), () => checkView(folder, 'runs/first'));
  await attempt(at('toolenv train, with another trainer'), async () => {
    await run('npm', ['install', '@toolenv/trainer-ppo'], folder);
    const args = [own, '--trainer', '@toolenv/trainer-ppo/ppo-v1', ...few];
    await trainTwoSteps(folder, 'runs/second', args, toolenv);
  });
}

/** Installs copies of a new package in other ways than plain `npm install`: with scripts, and with other versions of npm. */
async function checkInstalls(template: string, folder: string, sandbox: Sandbox): Promise<void> {
  const { run } = sandbox;
  const here = (await run('npm', ['--version'], sandbox.folder)).trim();
  const ways: { npm: string[]; version: string; args: string[] }[] = [
    { npm: ['npm'], version: here, args: ['--ignore-scripts=false'] },
  ];
  for (const major of ['10', '11', '12'].filter((major) =>
    isAtLeast(process.versions.node, nodeFor[major]!),
  )) {
    if (here.startsWith(`${major}.`)) continue;
    const npm = await fetchNpm(major, sandbox);
    const version = (await run(npm[0]!, [...npm.slice(1), '--version'], sandbox.folder)).trim();
    for (const args of [[], ['--ignore-scripts=false']]) ways.push({ npm, version, args });
  }
  for (const { npm, version, args } of ways) {
    // Before 11.16, npm has no allowScripts: to allow scripts is to allow all.
    if (args.includes('--ignore-scripts=false') && !isAtLeast(version, '11.16.0')) continue;
    await attempt(`template ${template}: ${['npm install', ...args].join(' ')}, npm ${version}`, async () => {
      const copy = `${folder}-copy`;
      await cp(folder, copy, { recursive: true });
      try {
        await installQuietly(npm, args, copy, sandbox);
      } finally {
        await rm(copy, { recursive: true });
      }
    });
  }
}

/** Fails if an installed package has a script that the template neither allows nor refuses, because npm would ask about it. */
async function checkScripts(folder: string): Promise<void> {
  const read = async (file: string) => JSON.parse(await readFile(join(folder, file), 'utf8'));
  const { packages } = await read('node_modules/.package-lock.json');
  const { allowScripts } = await read('package.json');
  const withScript = Object.entries<{ hasInstallScript?: boolean }>(packages).filter(
    ([, { hasInstallScript }]) => hasInstallScript,
  );
  const names = withScript.map(([path]) => path.replace(/^.*node_modules\//, ''));
  const unknown = names.filter((name) => !Object.hasOwn(allowScripts, name));
  if (names.length === 0 || unknown.length > 0) {
    throw new Error(`install scripts: ${names.join(', ')}; allowScripts: ${JSON.stringify(allowScripts)}`);
  }
}

/** The first Node that a major version of npm supports. */
const nodeFor: Record<string, string> = { 10: '20.5.0', 11: '20.17.0', 12: '22.22.2' };

/** The command of another version of npm, which it installs. */
async function fetchNpm(major: string, { folder, run }: Sandbox): Promise<string[]> {
  const prefix = join(folder, `npm-${major}`);
  await mkdir(prefix);
  await run('npm', ['install', '--prefix', prefix, `npm@${major}`], prefix);
  return [process.execPath, join(prefix, 'node_modules/npm/bin/npm-cli.js')];
}

function isAtLeast(version: string, least: string): boolean {
  return version.localeCompare(least, 'en', { numeric: true }) >= 0;
}

/** Installs, and fails if npm warns of anything or if the CUDA provider was downloaded. */
async function installQuietly(
  [command, ...npm]: string[],
  args: readonly string[],
  folder: string,
  { runAll }: Sandbox,
): Promise<void> {
  const printed = await runAll(command!, [...npm, 'install', ...args], folder);
  if (/^npm /m.test(printed)) throw new Error(printed);
  const native = join(folder, 'node_modules/onnxruntime-node/bin');
  const libraries = await readdir(native, { recursive: true });
  if (libraries.some((file) => file.includes('providers_cuda'))) throw new Error('CUDA was downloaded');
}

/**
 * @param args The environment and flags of the trainer, and of another policy than the tiny one.
 * @param toolenv Runs the command in the folder.
 */
export async function trainTwoSteps(
  folder: string,
  out: string,
  args: readonly string[],
  toolenv: (...words: string[]) => Promise<string>,
): Promise<void> {
  const flags = ['--policy', 'checkpoint', '--steps', '2', '--max-tokens', '32', '--out', out];
  await toolenv('train', ...flags, ...args);
  const metrics = await readFile(join(folder, out, 'metrics.jsonl'), 'utf8');
  const steps = metrics.match(/"type":"rollout","step":[12]/g) ?? [];
  if (steps.length !== 2) throw new Error(`expected two steps, received ${metrics}`);
  await readFile(join(folder, out, 'policy/model.safetensors'));
}
