/** A device is tried in a process of its own. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { chooseDevice } from '../../src/runtime/device.ts';
import { knownDevices } from '../../src/runtime/known-devices.ts';
import { probeAgain, probeDevice } from '../../src/runtime/probe-device.ts';
import transformer from '../../src/transformer-v1.ts';

test('the CPU is always there and computes', () => {
  expect(knownDevices()).toContainEqual({ device: 'cpu', installed: true });
  expect(chooseDevice('cpu')).toBe('cpu');
  const found = probeDevice('cpu');
  expect(found).toMatchObject({ runs: true });
  expect(found.runs && found.gflops).toBeGreaterThan(0.1);
});

test('a driver that crashes ends only the probing process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-device-'));
  await writeFile(join(folder, 'crash.cjs'), 'process.abort();');
  vi.stubEnv('NODE_OPTIONS', `--require ${join(folder, 'crash.cjs')}`);
  expect(probeAgain('webgpu')).toMatchObject({
    runs: false,
    why: expect.stringMatching(/^it ended its process by SIGABRT/),
  });
});

test('reports devices and libraries, and ends with the reason of the signal', async () => {
  const report = await transformer.compute!(new AbortController().signal);
  expect(report).toMatchObject({ default: 'cpu', auto: expect.stringMatching(/^(cpu|cuda)$/) });
  expect(report.devices.find(({ device }) => device === 'cpu')).toMatchObject({
    installed: true,
    runs: true,
  });
  expect(report.libraries.map(({ name }) => name)).toEqual([
    'onnxruntime-node',
    '@tensorflow/tfjs',
    '@tensorflow/tfjs-backend-wasm',
    '@tensorflow/tfjs-node',
    '@tensorflow/tfjs-node-gpu',
  ]);
  expect(report.libraries[0]!.version).toMatch(/^\d+\.\d+\.\d+$/);
  await expect(transformer.compute!(AbortSignal.abort('enough'))).rejects.toBe('enough');
});
