/** Models of the Hugging Face Hub on the command line, against a stand-in of the Hub: processes, signals, and whole runs. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readCheckpoint } from '@toolenv/policy';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { StandInHub, sendFile, sha256 } from '../../hub/test/stand-in-hub.ts';
import { runCliIn } from '../test/run-cli.ts';
import { startCli } from '../test/start-cli.ts';

const root = resolve(import.meta.dirname, '../../..');
const tiny = join(root, 'packages/checkpoints/tiny');
const name = 'toolenv/tiny-chat';
const token = 'hf_standInToken';

let hub: StandInHub;
let folder: string;
let files: Record<string, Buffer>;
let commit: string;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  hub = await new StandInHub().listen();
  ({ commit, files } = await hub.addFolder(name, tiny));
  folder = await mkdtemp(join(tmpdir(), 'toolenv-cli-hub-'));
  env = { ...process.env, ...hub.variables(join(folder, 'home'), token) };
});
afterEach(async () => {
  hub.close();
  await rm(folder, { recursive: true, force: true });
});

const train = (out: string, ...more: string[]) => [
  ...['train', '@toolenv/envs-qa/bridge-v1', '--policy', name, '--out', join(folder, out)],
  ...['--steps', '1', '--group-size', '4', '--tasks-per-step', '4', '--max-tokens', '64', '--lora-rank', '2'],
  ...more,
];
const evaluate = [
  'eval',
  '@toolenv/envs-qa/bridge-v1',
  '--policy',
  name,
  '--count',
  '1',
  '--max-tokens',
  '4',
  '--json',
];
const run = (args: string[]) => startCli(args, root, env).finished;
const weights = () => files['model.safetensors']!;
const blobs = () => join(folder, 'home/hub/models--toolenv--tiny-chat/blobs');

it('trains a model by its name, resumes with its commit, pushes it, and opens what it pushed', async () => {
  const first = await run(train('run', '--evaluate-every', '1', '--evaluation-episodes', '2'));
  expect(first).toMatchObject({ code: 0 });
  const [about, memory] = first.stderr.split('\n');
  expect(about).toBe(`Downloading ${name} at ${commit.slice(0, 12)}: 3.6 MB.`);
  expect(memory).toMatch(/^Training holds about .* GB/);
  const config = await readFile(join(folder, 'run/config.json'), 'utf8');
  expect(JSON.parse(config)).toMatchObject({ policy: name, revision: commit });
  // The name now stands for another model, and the run goes on with its own.
  const next = hub.add(name, { ...files, 'README.md': Buffer.from('newer') });
  await rm(join(folder, 'home/hub/models--toolenv--tiny-chat/refs'), { recursive: true });
  hub.seen.length = 0;
  const resumed = await run(
    train('run', '--resume', '--steps', '2', '--evaluate-every', '1', '--evaluation-episodes', '2'),
  );
  expect(resumed).toMatchObject({ code: 0 });
  expect(hub.seen).toEqual([]);

  const pushed = await run(['push', join(folder, 'run'), 'some-user/trained', '--private', '--json']);
  expect(pushed).toMatchObject({ code: 0 });
  const summary = JSON.parse(pushed.stdout);
  expect(summary).toMatchObject({ url: `${hub.url}/some-user/trained` });
  expect(summary.files).toEqual(
    expect.arrayContaining([
      'README.md',
      'config.json',
      'model.safetensors',
      'adapter/adapter_config.json',
      'adapter/adapter_model.safetensors',
    ]),
  );
  const repo = hub.repos.get('models/some-user/trained')!;
  expect(repo.isPrivate).toBe(true);
  const there = repo.commits.get(summary.commit)!;
  expect(JSON.parse(there.get('adapter/adapter_config.json')!.toString()).base_model_name_or_path).toBe(name);
  const card = there.get('README.md')!.toString();
  expect(card).toMatch(/^---\nbase_model: toolenv\/tiny-chat\n/);
  expect(card).toMatch(/\| reward \| [\d.-]+ \([\d.-]+ to [\d.-]+\) \| [\d.-]+ \(/);
  expect(card).toContain(`--policy ${name}@${commit}`);
  expect(card).toContain('--lora-rank 2');
  for (const content of there.values()) {
    expect(content.includes(folder)).toBe(false);
    expect(content.includes(token)).toBe(false);
  }
  for (const each of await readdir(join(folder, 'run'), { recursive: true, withFileTypes: true }))
    if (each.isFile()) expect((await readFile(join(each.parentPath, each.name))).includes(token)).toBe(false);

  // The command of the card repeats the run: its curves are the same.
  const words = /```sh\nnpx toolenv (train[\s\S]+?)```/
    .exec(card)![1]!
    .replaceAll('\\\n', ' ')
    .trim()
    .split(/\s+/);
  const again = await run([
    ...words.slice(0, -1),
    join(folder, 'again'),
    '--evaluate-every',
    '1',
    '--evaluation-episodes',
    '2',
  ]);
  expect(again).toMatchObject({ code: 0 });
  const [base, one, other] = await Promise.all(
    [tiny, join(folder, 'run/policy'), join(folder, 'again/policy')].map(async (each) => {
      const { weights: read } = await readCheckpoint(each);
      return read['model.layers.0.mlp.up_proj.weight']!.data;
    }),
  );
  expect(other).toEqual(one);
  expect(one).not.toEqual(base);

  const opened = await run(evaluate.map((word) => (word === name ? 'some-user/trained' : word)));
  expect(opened).toMatchObject({ code: 0 });
  expect(JSON.parse(opened.stdout)).toMatchObject({ policy: 'some-user/trained', revision: summary.commit });
  expect(next).not.toBe(commit);
});

it('that was killed in the middle of a download goes on where it ended', async () => {
  hub.fault = (part, _, response) => {
    if (part !== 'storage') return false;
    response.writeHead(200, { 'content-length': weights().length }).write(weights().subarray(0, 1_000_000));
    return true;
  };
  const { child, finished } = startCli(evaluate, root, env);
  await vi.waitUntil(async () => (await sizes()).includes(1_000_000), { timeout: 60_000, interval: 50 });
  child.kill('SIGKILL');
  await finished;
  expect(await readdir(blobs())).not.toContain(sha256(weights()));
  hub.fault = undefined;
  hub.seen.length = 0;
  expect(await run(evaluate)).toMatchObject({ code: 0 });
  expect(hub.parts('storage').map(({ range }) => range)).toEqual(['bytes=1000000-']);
});

async function sizes(): Promise<number[]> {
  const names = await readdir(blobs()).catch(() => []);
  const contents = names.map((each) =>
    readFile(join(blobs(), each)).then(
      ({ length }) => length,
      () => 0,
    ),
  );
  return Promise.all(contents);
}

it('ends at once on Ctrl-C, and leaves nothing that loads', async () => {
  hub.fault = (part) => part === 'storage';
  const { child, finished } = startCli(evaluate, root, env);
  await vi.waitUntil(() => hub.parts('storage').length > 0, { timeout: 60_000, interval: 50 });
  child.kill('SIGINT');
  expect((await finished).code).toBe(130);
  expect(await readdir(blobs())).not.toContain(sha256(weights()));
});

it('two processes that download one model at the same time both end well, with one download', async () => {
  hub.fault = (part, request, response) => {
    if (part === 'storage') setTimeout(() => sendFile(request, response, weights()), 2000);
    return part === 'storage';
  };
  const [one, other] = await Promise.all([run(evaluate), run(evaluate)]);
  expect([one.code, other.code]).toEqual([0, 0]);
  expect(JSON.parse(one.stdout).means).toEqual(JSON.parse(other.stdout).means);
  expect(hub.parts('storage')).toHaveLength(1);
});

it('is refused before its weights come if training needs more memory than there is', async () => {
  const config = {
    ...JSON.parse(files['config.json']!.toString()),
    hidden_size: 16_384,
    intermediate_size: 65_536,
    num_hidden_layers: 90,
  };
  hub.add('toolenv/huge', { ...files, 'config.json': Buffer.from(JSON.stringify(config)) });
  const { code, stderr } = await run(train('huge').map((word) => (word === name ? 'toolenv/huge' : word)));
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /Downloading toolenv\/huge .*\n.*Training holds about .* and this machine has .*: try/,
  );
  expect(hub.parts('storage')).toEqual([]);
});

it('a name that is neither a folder nor of the Hub is one line with both remedies', async () => {
  const { code, stderr } = await run(evaluate.map((word) => (word === name ? 'runs/polciy' : word)));
  expect(code).toBe(2);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(
    /runs\/polciy is not a local path, and .* has no such model.*correct the path or the name, or set HF_TOKEN/,
  );
});

it('checks a model by its name', async () => {
  const { code, stdout } = await run(['check', `hf:${name}`]);
  expect(stdout).toMatch(/tiny-chat, its policy {2}\d+ rules hold/);
  expect(code).toBe(0);
});

it('a run without a policy cannot be pushed, and neither can a name with a revision', async () => {
  for (const [args, message] of [
    [['push', folder, 'some-user/trained'], 'is not a run folder'],
    [['push', folder, 'trained'], 'trained is not the name of a repository'],
    [['push', folder, 'some-user/trained@main'], 'and a branch with --revision'],
  ] as const) {
    const { code, stderr } = await runCliIn(root, ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  }
});
