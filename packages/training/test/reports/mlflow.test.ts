/** The requests that MLflow documents (mlflow.org/docs/latest/rest-api.html), to a server on this machine. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ReportedRun } from '../../src/reports/metric-sink.ts';
import { mlflow } from '../../src/reports/mlflow.ts';

interface Request {
  method: string;
  path: string;
  authorization: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a body of JSON.
  body: any;
}

let server: Server;
let uri: string;
let requests: Request[];
/** Answers instead of the usual ones, by path. */
let answers: Record<string, [status: number, body: object]>;

const usual: typeof answers = {
  'experiments/get-by-name': [404, { error_code: 'RESOURCE_DOES_NOT_EXIST', message: 'no such experiment' }],
  'experiments/create': [200, { experiment_id: '7' }],
  'runs/create': [200, { run: { info: { run_id: 'r1' } } }],
};

beforeEach(async () => {
  requests = [];
  answers = {};
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, search } = new URL(request.url!, uri);
    const path = pathname.replace('/api/2.0/mlflow/', '');
    const text = Buffer.concat(chunks).toString();
    requests.push({
      method: request.method!,
      path: path + search,
      authorization: request.headers.authorization,
      body: text ? JSON.parse(text) : undefined,
    });
    const [status, body] = answers[path] ?? usual[path] ?? [200, {}];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const { signal } = new AbortController();
const run: ReportedRun = {
  name: 'grpo on ladder-v1, seed 1',
  folder: 'runs/mine',
  config: { seed: 1, trainerOptions: { clip: [0.2, 0.28], loss: 'dapo' }, commit: undefined },
};

test('makes experiment and run, logs parameters and metrics, and ends the run', async () => {
  const sink = mlflow({ trackingUri: `${uri}/`, experiment: 'agents & tools', token: 'secret' });
  expect(await sink.open(run, signal)).toBe('r1');
  const metrics = { 'rollout/reward': 0.5, 'rewards/exact match?/mean': 1 };
  await sink.write([{ step: 3, time: 1_700_000_000_000, metrics }], signal);
  await sink.close('killed', signal);
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET experiments/get-by-name?experiment_name=agents%20%26%20tools',
    'POST experiments/create',
    'POST runs/create',
    'POST runs/log-batch',
    'POST runs/log-batch',
    'POST runs/update',
  ]);
  expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer secret']));
  const [, experiment, created, params, logged, ended] = requests.map(({ body }) => body);
  expect(experiment).toEqual({ name: 'agents & tools' });
  expect(created).toEqual({
    experiment_id: '7',
    run_name: 'mine: grpo on ladder-v1, seed 1',
    start_time: expect.any(Number),
    tags: [{ key: 'mlflow.source.name', value: 'toolenv' }],
  });
  expect(params).toEqual({
    run_id: 'r1',
    params: [
      { key: 'seed', value: '1' },
      { key: 'trainerOptions.clip', value: '[0.2,0.28]' },
      { key: 'trainerOptions.loss', value: 'dapo' },
    ],
  });
  expect(logged).toEqual({
    run_id: 'r1',
    metrics: [
      { key: 'rollout/reward', value: 0.5, timestamp: 1_700_000_000_000, step: 3 },
      { key: 'rewards/exact match_/mean', value: 1, timestamp: 1_700_000_000_000, step: 3 },
    ],
  });
  expect(ended).toEqual({ run_id: 'r1', status: 'KILLED', end_time: expect.any(Number) });
});

test('a resumed run goes on in the same run, without its parameters', async () => {
  const sink = mlflow({ trackingUri: uri });
  expect(await sink.open({ ...run, id: 'r0' }, signal)).toBe('r0');
  await sink.write([{ step: 1, time: 1, metrics: { a: 1 } }], signal);
  expect(requests.map(({ path, body }) => [path, body.run_id])).toEqual([
    ['runs/update', 'r0'],
    ['runs/log-batch', 'r0'],
  ]);
  expect(requests[0]!.body).toEqual({ run_id: 'r0', status: 'RUNNING' });
});

test('a resumed run whose remote run is gone begins another', async () => {
  answers['runs/update'] = [404, { error_code: 'RESOURCE_DOES_NOT_EXIST', message: 'gone' }];
  answers['experiments/get-by-name'] = [200, { experiment: { experiment_id: '3' } }];
  expect(await mlflow({ trackingUri: uri }).open({ ...run, id: 'r0' }, signal)).toBe('r1');
  expect(requests.find(({ path }) => path === 'runs/create')!.body.experiment_id).toBe('3');
});

test('at most 1000 metrics and 100 parameters in a request', async () => {
  const sink = mlflow({ trackingUri: uri });
  const config = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, 'x'.repeat(7000)]));
  await sink.open({ ...run, config }, signal);
  const many = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`m${i}`, i]));
  const events = [1, 2].map((step) => ({ step, time: 1, metrics: many }));
  await sink.write(events, signal);
  const batches = requests.filter(({ path }) => path === 'runs/log-batch').map(({ body }) => body);
  expect(batches.map(({ params = [], metrics = [] }) => [params.length, metrics.length])).toEqual([
    [100, 0],
    [1, 0],
    [0, 1000],
    [0, 200],
  ]);
  expect(batches[0].params[0].value).toHaveLength(6000);
});

test('a refusal is final, an overloaded server is not', async () => {
  answers['runs/create'] = [403, { error_code: 'PERMISSION_DENIED', message: 'not yours' }];
  await expect(mlflow({ trackingUri: uri }).open(run, signal)).rejects.toMatchObject({
    code: 'usage.report',
    message: 'MLflow refused runs/create with PERMISSION_DENIED: not yours',
  });
  answers['runs/create'] = [503, {}];
  await expect(mlflow({ trackingUri: uri }).open(run, signal)).rejects.toMatchObject({
    code: 'infrastructure.report',
  });
  await expect(mlflow({ trackingUri: 'http://127.0.0.1:1' }).open(run, signal)).rejects.toMatchObject({
    code: 'infrastructure.report',
  });
});

test('needs the address of a server', () => {
  expect(() => mlflow({ trackingUri: 'sqlite:///mlflow.db' })).toThrow('set MLFLOW_TRACKING_URI');
});
