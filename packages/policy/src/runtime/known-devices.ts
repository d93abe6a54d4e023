/** Devices that ONNX Runtime's build for Node supports, and which of them are installed on this machine. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { listSupportedBackends } from 'onnxruntime-node';
import { type DeviceInfo, devices } from './device-name.ts';

/** The devices that this build of onnxruntime-node supports. */
export function knownDevices(): DeviceInfo[] {
  return listSupportedBackends().flatMap(({ name, bundled }) => {
    const device = devices.find((known) => known === name);
    return device ? [{ device, installed: bundled || hasProviderLibrary(name) }] : [];
  });
}

/** Whether onnxruntime-node's installer has installed a provider's library. */
function hasProviderLibrary(name: string): boolean {
  const entry = createRequire(import.meta.url).resolve('onnxruntime-node');
  const folder = join(dirname(entry), '..', 'bin', 'napi-v6', process.platform, process.arch);
  const names = [`libonnxruntime_providers_${name}.so`, `onnxruntime_providers_${name}.dll`];
  return names.some((file) => existsSync(join(folder, file)));
}
