/** docs/scale.md and examples/scale: manifests are YAML, and every command names flags and values that the command line takes. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { helpOf } from '../../packages/cli/test/help-of.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { loadAll } = createRequire(import.meta.url)('js-yaml') as { loadAll(text: string): unknown[] };

interface Container {
  image: string;
  args: string[];
  env?: { name: string }[];
  ports?: { name: string; containerPort: number }[];
  readinessProbe?: { httpGet: { path: string } };
  lifecycle?: { preStop: { exec: { command: string[] } } };
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: {
    completions?: number;
    podReplacementPolicy?: string;
    template?: {
      metadata: { annotations?: Record<string, string> };
      spec: { hostname?: string; terminationGracePeriodSeconds: number; containers: Container[] };
    };
  };
}

const manifests = ['workers.yaml', 'environment.yaml'].flatMap(
  (name) => loadAll(read(`examples/scale/${name}`)) as Manifest[],
);
const podOf = (name: string) =>
  manifests.find(({ kind, metadata }) => metadata.name === name && kind !== 'Service')!.spec;

/** The words of a shell command, without quotes. */
function words(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain!,
  );
}

/** Every `toolenv …` of a text, up to the end of its line or of the string that it is in. */
function commandsOf(text: string): string[][] {
  const joined = text.replaceAll(/\\\n\s*/g, ' ');
  return [...joined.matchAll(/(?:^|[\s"])toolenv ((?:train|rollout|serve|eval) @.*)$/gm)].map(([, command]) =>
    words(command!.replace(/",".*$/, '')),
  );
}

const sources = ['docs/scale.md', 'examples/scale/workers.sbatch'];
const commands: [string, string[]][] = [
  ...sources.flatMap((path) => commandsOf(read(path)).map((argv): [string, string[]] => [path, argv])),
  ...manifests.flatMap(({ metadata, spec }) =>
    (spec.template?.spec.containers ?? []).map(({ args }): [string, string[]] => [metadata.name, args]),
  ),
];

test('there are commands of every kind', () => {
  expect(commands.length).toBeGreaterThanOrEqual(9);
  expect(new Set(commands.map(([, [command]]) => command))).toEqual(new Set(['train', 'rollout', 'serve']));
});

test.each(commands)('%s: the flags exist and take a value where they get one', async (_where, argv) => {
  const help = await helpOf(...argv);
  expect(help).toMatch(new RegExp(`^Usage: toolenv ${argv[0]} `));
  const flags = new Map(
    [...help.matchAll(/^ {2}(--[\w-]+)( <[^>]+>)?/gm)].map(([, flag, value]) => [flag!, value !== undefined]),
  );
  for (const [at, word] of argv.entries()) {
    if (!word.startsWith('--')) continue;
    expect(flags.has(word), word).toBe(true);
    const next = argv[at + 1];
    expect(next !== undefined && !next.startsWith('--'), `${word} ${next}`).toBe(flags.get(word));
  }
});

test('a pod has more time to end than its worker to drain, and probes ask what the worker serves', () => {
  const { template, completions } = podOf('toolenv-workers');
  const { metadata, spec } = template!;
  const [{ args, env, ports, readinessProbe }] = spec.containers as [Container];
  const value = (flag: string) => args[args.indexOf(flag) + 1];
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(value('--drain')));
  expect(metadata.annotations).toEqual({
    'prometheus.io/scrape': 'true',
    'prometheus.io/port': value('--status-port'),
    'prometheus.io/path': '/metrics',
  });
  expect(ports).toEqual([{ name: 'status', containerPort: Number(value('--status-port')) }]);
  expect(readinessProbe?.httpGet.path).toBe('/readyz');
  expect(env).toEqual([{ name: 'TOOLENV_WORKERS', value: String(completions) }]);
});

test('a pod of an environment drains in its time, and tells Prometheus', () => {
  const { metadata, spec } = podOf('environment').template!;
  const [{ args, lifecycle }] = spec.containers as [Container];
  const value = (flag: string) => args[args.indexOf(flag) + 1];
  const before = Number(lifecycle!.preStop.exec.command.at(-1));
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(before + Number(value('--drain')));
  expect(metadata.annotations).toEqual({
    'prometheus.io/scrape': 'true',
    'prometheus.io/port': value('--http'),
    'prometheus.io/path': '/metrics',
  });
});

test('a trainer that is replaced is alone, and the names of its pods tell them apart', () => {
  const { template, podReplacementPolicy } = podOf('toolenv-trainer');
  expect(template!.spec.hostname).toBeUndefined();
  expect(podReplacementPolicy).toBe('Failed');
  expect(template!.spec.containers[0]!.args).toContain('--resume');
});

test('the container runs as a user without rights, and nothing stands between it and signals', () => {
  const lines = read('examples/scale/Containerfile').split('\n');
  const last = (instruction: string) => lines.findLast((line) => line.startsWith(`${instruction} `));
  expect(last('FROM')).toContain('node:22-slim');
  expect(last('USER')).toBe('USER node');
  expect(last('ENTRYPOINT')).toBe('ENTRYPOINT ["node", "node_modules/toolenv/dist/main.js"]');
  expect(lines.some((line) => line.startsWith('RUN npm ci --omit=dev'))).toBe(true);
});

test('ray-workers.mjs starts each worker with its place, without the headers that Ray refuses', async () => {
  const jobs: unknown[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const isBrowser = Object.keys(request.headers).some((name) => name.startsWith('sec-fetch'));
    let body = '';
    for await (const part of request) body += part;
    if (isBrowser || request.method !== 'POST' || request.url !== '/api/jobs/')
      return response.writeHead(405).end();
    jobs.push(JSON.parse(body));
    return response.end(JSON.stringify({ submission_id: `job-${jobs.length}` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const script = join(root, 'examples/scale/ray-workers.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, address, '2', 'toolenv rollout']);
  expect(stdout).toBe('job-1\njob-2\n');
  expect(jobs).toEqual(
    ['1/2', '2/2'].map((place) => ({
      entrypoint: 'toolenv rollout',
      runtime_env: { env_vars: { TOOLENV_WORKER: place } },
      entrypoint_num_cpus: 1,
    })),
  );
  // Node's own fetch is what this server refuses, as Ray's does.
  expect((await fetch(`${address}/api/jobs/`, { method: 'POST', body: '{}' })).status).toBe(405);
  server.close();
}, 60_000);
