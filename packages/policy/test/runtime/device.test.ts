/** The choice of a device, and the errors about devices that cannot be used. */
import { expect, test } from 'vitest';
import { autoDevice, chooseDevice } from '../../src/runtime/device.ts';
import { knownDevices } from '../../src/runtime/known-devices.ts';
import { gaveUp, reasonOf } from '../../src/runtime/onnx/reason.ts';
import type { DeviceProbe } from '../../src/runtime/probe-device.ts';

test('the error about a device that is not installed names the installed ones', () => {
  const missing = (['dml', 'coreml'] as const).find(
    (device) => !knownDevices().some((known) => known.device === device && known.installed),
  )!;
  expect(() => chooseDevice(missing)).toThrow(
    expect.objectContaining({
      code: 'usage.device',
      message: expect.stringMatching(
        new RegExp(`^Device ${missing} is not installed: choose cpu( or \\w+)*\\.$`),
      ),
    }),
  );
});

const runs = (gflops: number): DeviceProbe => ({ runs: true, gflops });
const fails: DeviceProbe = { runs: false, why: 'No adapter' };
test.each([
  ['a GPU with both', { cuda: runs(8600), webgpu: runs(2900) }, 'webgpu'],
  ['a GPU without Vulkan', { cuda: runs(8600), webgpu: fails }, 'cuda'],
  ['a GPU, and Vulkan in software', { cuda: runs(8600), webgpu: runs(0.2) }, 'cuda'],
  ['CUDA without a GPU', { cuda: fails, webgpu: runs(0.2) }, 'cpu'],
  ['a GPU that has no CUDA', { webgpu: runs(2900) }, 'cpu'],
] as const)('auto on a machine with %s', (_title, probes: Partial<Record<string, DeviceProbe>>, device) => {
  const installed = ['cpu', ...Object.keys(probes)] as Parameters<typeof autoDevice>[0];
  const found: Partial<Record<string, DeviceProbe>> = { ...probes, cpu: runs(900) };
  expect(autoDevice(installed, (name) => found[name]!)).toBe(device);
});

test("reasons leave out ONNX Runtime's source locations", () => {
  const message =
    '/onnxruntime_src/core/webgpu_context.cc:136 Initialize(const Config&)::<lambda()> status == Success was false. No\n adapter';
  expect(reasonOf(new Error(message))).toBe('No adapter');
});

test('errors of a device get a remedy, and errors of the CPU are thrown unchanged', () => {
  const error = new Error('WebGPU validation failed. Buffer size (2) exceeds\n the max (1).');
  expect(() => gaveUp('webgpu', error)).toThrow(
    expect.objectContaining({
      code: 'usage.device',
      cause: error,
      message:
        'Device webgpu failed (WebGPU validation failed. Buffer size (2) exceeds the max (1).): use a smaller token budget or model, or another device, such as cpu.',
    }),
  );
  expect(() => gaveUp('cpu', error)).toThrow(error);
});
