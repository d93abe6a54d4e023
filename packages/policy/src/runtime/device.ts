/** The choice of a device that ONNX Runtime computes on. */
import { ToolEnvError } from '@toolenv/core';
import { knownDevices } from '#known-devices';
import type { DeviceName } from './device-name.ts';
import { probeDevice } from './probe-device.ts';

/** `auto` is CUDA if CUDA is installed and computes, otherwise the CPU. It is never WebGPU, which may be software. */
export type Device = 'auto' | DeviceName;

/**
 * Resolves `auto`, and checks that the device is installed.
 * @throws ToolEnvError `usage.device` for a device that is not installed.
 */
export function chooseDevice(asked: Device): DeviceName {
  const installed = knownDevices().flatMap(({ device, installed }) => (installed ? [device] : []));
  // The installer brings CUDA's provider to every Linux on x64, with or without a GPU.
  if (asked === 'auto') return installed.includes('cuda') && probeDevice('cuda').runs ? 'cuda' : 'cpu';
  if (installed.includes(asked)) return asked;
  const remedy = asked === 'cuda' ? ', or run node node_modules/onnxruntime-node/script/install.js' : '';
  const message = `Device ${asked} is not installed: choose ${installed.join(' or ')}${remedy}.`;
  throw new ToolEnvError('usage.device', message);
}
