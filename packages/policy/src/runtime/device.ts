/** The choice of a device that ONNX Runtime computes on. */
import { ToolEnvError } from '@toolenv/core';
import { knownDevices } from '#known-devices';
import type { DeviceName } from './device-name.ts';
import { type DeviceProbe, probeDevice } from './probe-device.ts';

/** `auto` is the CPU unless CUDA is installed and computes. Then it is WebGPU if that is faster than the CPU, and CUDA otherwise. */
export type Device = 'auto' | DeviceName;

/**
 * Resolves `auto`, and checks that the device is installed.
 * @throws ToolEnvError `usage.device` for a device that is not installed.
 */
export function chooseDevice(asked: Device): DeviceName {
  const installed = knownDevices().flatMap(({ device, installed }) => (installed ? [device] : []));
  if (asked === 'auto') return autoDevice(installed, probeDevice);
  if (installed.includes(asked)) return asked;
  const remedy = asked === 'cuda' ? ', or run node node_modules/onnxruntime-node/script/install.js' : '';
  const message = `Device ${asked} is not installed: choose ${installed.join(' or ')}${remedy}.`;
  throw new ToolEnvError('usage.device', message);
}

/** The device for `auto`, of those that are installed. */
export function autoDevice(
  installed: readonly DeviceName[],
  probe: (device: DeviceName) => DeviceProbe,
): DeviceName {
  // The installer brings CUDA's provider to every Linux on x64, with or without a GPU.
  if (!installed.includes('cuda') || !probe('cuda').runs) return 'cpu';
  // WebGPU keeps weights and gradients on the GPU, and onnxruntime-node's CUDA sends them there. WebGPU may be software.
  const [webgpu, cpu] = [probe('webgpu'), probe('cpu')];
  const isHardware = webgpu.runs && (!cpu.runs || webgpu.gflops > cpu.gflops);
  return isHardware ? 'webgpu' : 'cuda';
}
