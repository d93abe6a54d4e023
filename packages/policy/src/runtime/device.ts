/** Devices that ONNX Runtime computes on, and which of them this machine's installation knows. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { listSupportedBackends } from 'onnxruntime-node';
import { probeDevice } from './probe-device.ts';

export const devices = ['cpu', 'webgpu', 'cuda', 'dml', 'coreml'] as const;
/** `auto` is CUDA where it is installed and computes, else the CPU. WebGPU is asked for by name: it may be software. */
export type Device = 'auto' | (typeof devices)[number];

export interface DeviceInfo {
  device: (typeof devices)[number];
  /** Whether its library is here; a driver or a GPU may still be missing. */
  installed: boolean;
}

/** The devices that this build of onnxruntime-node can have. */
export function knownDevices(): DeviceInfo[] {
  return listSupportedBackends().flatMap(({ name, bundled }) => {
    const device = devices.find((known) => known === name);
    return device ? [{ device, installed: bundled || hasProviderLibrary(name) }] : [];
  });
}

/**
 * The device to use for what was asked.
 * @throws ToolEnvError `usage.device` for one that is not installed.
 */
export function chooseDevice(asked: Device): DeviceInfo['device'] {
  const installed = knownDevices().flatMap(({ device, installed }) => (installed ? [device] : []));
  // Linux on x64 gets CUDA's provider from the installer, whether it has a GPU or not.
  if (asked === 'auto') return installed.includes('cuda') && probeDevice('cuda').runs ? 'cuda' : 'cpu';
  if (installed.includes(asked)) return asked;
  const remedy =
    asked === 'cuda' ? ', or install onnxruntime-node again without ONNXRUNTIME_NODE_INSTALL=skip' : '';
  const message = `Device ${asked} is not installed: choose ${installed.join(' or ')}${remedy}.`;
  throw new ToolEnvError('usage.device', message);
}

/** Providers that onnxruntime-node's installer brings lie beside its own library. */
function hasProviderLibrary(name: string): boolean {
  const entry = createRequire(import.meta.url).resolve('onnxruntime-node');
  const folder = join(dirname(entry), '..', 'bin', 'napi-v6', process.platform, process.arch);
  const names = [`libonnxruntime_providers_${name}.so`, `onnxruntime_providers_${name}.dll`];
  return names.some((file) => existsSync(join(folder, file)));
}
