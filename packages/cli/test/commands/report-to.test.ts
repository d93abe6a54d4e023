/** `toolenv train --report-to`: a tracker gets the metrics, and a mistake in its settings is one line. */
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { fixture } from '../fixture.ts';
import { runCli } from '../run-cli.ts';

afterEach(() => void vi.unstubAllEnvs());

async function args(...more: string[]): Promise<string[]> {
  const out = join(await mkdtemp(join(tmpdir(), 'toolenv-report-')), 'run');
  const what = [fixture.env, '--policy', fixture.policy, '--trainer', fixture.trainer];
  return ['train', ...what, '--out', out, '--steps', '2', ...more];
}

it('sends the metrics of each step to MLflow', async () => {
  const logged: unknown[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url!;
    if (path.endsWith('runs/log-batch')) {
      const { metrics = [] } = JSON.parse(Buffer.concat(chunks).toString());
      for (const { key, step } of metrics) logged.push(`${key} ${step}`);
    }
    const answers = { experiment: { experiment_id: '1' }, run: { info: { run_id: 'r' } } };
    response.end(JSON.stringify(answers));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('MLFLOW_TRACKING_URI', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { code, stderr } = await runCli(...(await args('--report-to', 'mlflow')));
  server.close();
  expect(stderr).not.toContain('Report');
  expect(code).toBe(0);
  expect(logged).toEqual(
    [1, 2].flatMap((step) => [
      `rollout/reward ${step}`,
      `rewards/em/mean ${step}`,
      `time/rollout ${step}`,
      `update/grad_norm ${step}`,
    ]),
  );
});

it('refuses a tracker that it does not know, and a server that is not named', async () => {
  vi.stubEnv('MLFLOW_TRACKING_URI', '');
  const unknown = await runCli(...(await args('--report-to', 'mlfow')));
  expect([unknown.code, unknown.stderr.trim()]).toEqual([
    2,
    'toolenv: --report-to mlfow: give values with commas between, each mlflow or wandb.',
  ]);
  const unnamed = await runCli(...(await args('--report-to', 'mlflow')));
  expect(unnamed.code).toBe(2);
  expect(unnamed.stderr).toContain('set MLFLOW_TRACKING_URI');
});
