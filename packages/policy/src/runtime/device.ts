/** Devices that ONNX Runtime computes on, and which of them are installed on this machine. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { listSupportedBackends } from 'onnxruntime-node';
import type { DeviceName } from './device-name.ts';
import { probeDevice } from './probe-device.ts';

export const devices: readonly DeviceName[] = ['cpu', 'webgpu', 'cuda', 'dml', 'coreml'];
/** `auto` is CUDA if CUDA is installed and computes, otherwise the CPU. It is never WebGPU, which may be software. */
export type Device = 'auto' | DeviceName;

export interface DeviceInfo {
  device: DeviceName;
  /** Whether the device's library is installed. A driver or a GPU may still be missing. */
  installed: boolean;
}

/** The devices that this build of onnxruntime-node supports. */
export function knownDevices(): DeviceInfo[] {
  return listSupportedBackends().flatMap(({ name, bundled }) => {
    const device = devices.find((known) => known === name);
    return device ? [{ device, installed: bundled || hasProviderLibrary(name) }] : [];
  });
}

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

/** Whether a provider is among the libraries that onnxruntime-node's installer puts beside its own. */
function hasProviderLibrary(name: string): boolean {
  const entry = createRequire(import.meta.url).resolve('onnxruntime-node');
  const folder = join(dirname(entry), '..', 'bin', 'napi-v6', process.platform, process.arch);
  const names = [`libonnxruntime_providers_${name}.so`, `onnxruntime_providers_${name}.dll`];
  return names.some((file) => existsSync(join(folder, file)));
}
