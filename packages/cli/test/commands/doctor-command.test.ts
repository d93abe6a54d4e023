/** The table of `toolenv doctor`, and versions that are mixed. */
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ComputeReport } from '@toolenv/core/plugins';
import { expect, it } from 'vitest';
import { doctorText } from '../../src/commands/doctor-command.ts';
import { type DoctorReport, installedVersions, type PolicyReport } from '../../src/commands/doctor-report.ts';

const manifest = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));

it('finds versions that are mixed, also of packages that others brought', async () => {
  const project = await mkdtemp(join(tmpdir(), 'toolenv-doctor-'));
  const install = async (folder: string, json: object) => {
    await mkdir(join(project, folder), { recursive: true });
    await writeFile(join(project, folder, 'package.json'), JSON.stringify(json));
  };
  const old = '0.0.0-old';
  await install('node_modules/@toolenv/core', { name: '@toolenv/core', version: old });
  const mcp = { name: '@toolenv/mcp', version: old, dependencies: { '@toolenv/core': old, ajv: '1' } };
  await install('node_modules/@toolenv/mcp', mcp);
  await install('node_modules/ajv', { name: 'ajv', version: '1.0.0' });
  const { own, packages, remedy } = installedVersions([project, import.meta.dirname]);
  expect(own).toBe(manifest.version);
  expect(Object.keys(packages).sort()).toEqual([own, old].sort());
  expect(packages[old]).toEqual(['@toolenv/core', '@toolenv/mcp']);
  expect(packages[own]).toEqual(expect.arrayContaining(['@toolenv/core', '@toolenv/training', 'toolenv']));
  expect(remedy).toBe(`npm install @toolenv/mcp@${own}`);
});

const report: DoctorReport = {
  node: { version: '20.5.0', needed: '20.19', supported: false },
  toolenv: {
    own: '0.3.0',
    packages: { '0.3.0': ['@toolenv/core', 'toolenv'], '0.2.0': ['@toolenv/core', '@toolenv/mcp'] },
    remedy: 'npm install @toolenv/mcp@0.3.0',
  },
  system: 'linux 6.1 x64',
  cpu: { model: 'Fast One', cores: 1 },
  memory: { total: 8 * 2 ** 30, available: 2 ** 29 },
  disk: { folder: '/home', available: 2 ** 40 },
  gpus: [{ name: 'NVIDIA T1000', memory: 4 * 2 ** 30, driver: '570.12' }],
  policies: [
    {
      ref: 'a/b-v1',
      libraries: [
        { name: 'onnxruntime-node', version: '1.30.0' },
        { name: '@tensorflow/tfjs', version: null },
      ],
      devices: [
        { device: 'cpu', installed: true, runs: true, gflops: 123.4, threads: 1 },
        { device: 'webgpu', installed: true, runs: true, gflops: 0.21 },
        { device: 'cuda', installed: false, runs: false, why: 'not installed' },
      ],
      engines: [
        { engine: 'ONNX Runtime cpu', flags: '', available: true, about: '123 GFLOP/s' },
        { engine: 'libtorch cpu', flags: '', available: false, about: 'no PyTorch was found' },
      ],
      default: 'cpu',
      auto: 'cpu',
    },
    { ref: 'c/d-v1', why: 'no library' },
  ],
};

it('is a table for people', () => {
  const text = doctorText(report);
  expect(text).toBe(
    `
Node.js      20.5.0            too old: install 20.19 or newer
toolenv      0.3.0             @toolenv/core, toolenv
             0.2.0             @toolenv/core, @toolenv/mcp
             mixed             npm install @toolenv/mcp@0.3.0
system       linux 6.1 x64
CPU          Fast One          1 core
memory       8.0 GiB           0.5 GiB available
disk         /home             1024.0 GiB available
GPU          NVIDIA T1000      4.0 GiB, driver 570.12
policy       a/b-v1
  libraries  onnxruntime-node  1.30.0
             @tensorflow/tfjs  not installed
             libtorch cpu      no PyTorch was found
  devices    cpu               works, 123 GFLOP/s with 1 thread
             webgpu            works, 0.2 GFLOP/s
             cuda              not installed
  used       cpu               without --device
             cpu               with --device auto
policy       c/d-v1            does not load: no library`.slice(1),
  );
});

it('says what WebGPU lacks beside a GPU of NVIDIA', () => {
  const [policy] = report.policies as [PolicyReport & ComputeReport];
  const fails = { device: 'webgpu', installed: true, runs: false, why: 'No supported adapters' } as const;
  const devices = policy.devices.map((each) => (each.device === 'webgpu' ? fails : each));
  const failing = { ...report, policies: [{ ...policy, devices }] };
  expect(doctorText(failing)).toMatch(
    /\n {2}.*webgpu +does not work: No supported adapters\n[\s\S]*\nhint +webgpu +NVIDIA's driver needs .*libgl1/,
  );
  expect(doctorText({ ...failing, gpus: [] })).not.toContain('hint');
});
