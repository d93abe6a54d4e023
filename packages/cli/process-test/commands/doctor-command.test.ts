/** `toolenv doctor`: what this machine really computes with; also with a driver that lists a GPU, and with devices that crash. */
import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { ComputeReport } from '@toolenv/core/plugins';
import { afterEach, expect, it, vi } from 'vitest';
import type { DoctorReport } from '../../src/commands/doctor-report.ts';
import { runCli } from '../../test/run-cli.ts';
import { startCli } from '../../test/start-cli.ts';

const manifest = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));

afterEach(() => vi.unstubAllEnvs());

it('tries the devices and lists GPUs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-doctor-'));
  await writeFile(join(folder, 'nvidia-smi'), '#!/bin/sh\necho "NVIDIA T1000, 4096, 570.12"\n');
  await chmod(join(folder, 'nvidia-smi'), 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
  const { code, stdout } = await runCli('doctor', '--json');
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as DoctorReport;
  expect(report).toMatchObject({
    node: { version: process.versions.node, needed: '20.19', supported: true },
    gpus: [{ name: 'NVIDIA T1000', memory: 2 ** 32, driver: '570.12' }],
    toolenv: { packages: { [manifest.version]: expect.arrayContaining(['@toolenv/core', 'toolenv']) } },
    policies: [
      {
        ref: '@toolenv/policy/transformer-v1',
        libraries: [
          { name: 'onnxruntime-node', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
          { name: '@tensorflow/tfjs', version: expect.stringMatching(/^4\./) },
          { name: '@tensorflow/tfjs-backend-wasm' },
          { name: '@tensorflow/tfjs-node' },
          { name: '@tensorflow/tfjs-node-gpu' },
        ],
        engines: expect.arrayContaining([
          expect.objectContaining({ engine: 'ONNX Runtime cpu', available: true }),
          expect.objectContaining({ engine: 'libtorch cpu', flags: '--runtime libtorch' }),
        ]),
        default: 'cpu',
        auto: expect.stringMatching(/^(cpu|cuda)$/),
      },
    ],
  });
  expect(report.toolenv).not.toHaveProperty('remedy');
  const { devices } = report.policies[0] as ComputeReport;
  const cpu = devices.find(({ device }) => device === 'cpu')!;
  expect(cpu).toMatchObject({ installed: true, runs: true });
  expect(cpu.runs && cpu.gflops).toBeGreaterThan(0.1);
  for (const bytes of [report.memory.available, report.disk.available])
    expect(bytes).toBeGreaterThan(2 ** 20);
});

it('ends with exit code 1 where no device works, and says how each failed', async () => {
  const crash = join(await mkdtemp(join(tmpdir(), 'toolenv-doctor-')), 'crash.cjs');
  await writeFile(crash, "if (process.execArgv.includes('--eval')) process.abort();");
  vi.stubEnv('NODE_OPTIONS', `--require ${crash}`);
  // Policies try their devices once for each process.
  const { code, stdout } = await startCli(['doctor']).finished;
  expect(code).toBe(1);
  expect(stdout).toMatch(/\n {2}devices +cpu +does not work: it ended its process by SIGABRT/);
  expect(stdout).toMatch(/\n +none +no device works\n$/);
});

it('says which sandboxes can be made here', async () => {
  const { code, stdout } = await runCli('doctor', '--sandboxes', '--json');
  expect(code).toBe(0);
  const kinds = JSON.parse(stdout) as { ref: string; problem?: string; removed: string[] }[];
  expect(kinds.map(({ ref }) => ref)).toEqual(
    ['bubblewrap-v1', 'container-v1', 'daytona-v1', 'e2b-v1', 'virtual-v1'].map(
      (name) => `@toolenv/sandbox/${name}`,
    ),
  );
  expect(kinds.at(-1)).toMatchObject({
    limits: { processes: 'a shell that starts none' },
    removed: [],
    left: [],
  });
  const { stdout: text } = await runCli('doctor', '--sandboxes');
  expect(text).toContain('@toolenv/sandbox/virtual-v1  works\n  memory limited by heap of the thread\n');
});
