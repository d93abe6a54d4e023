/** Devices that ONNX Runtime's build for browsers computes on: the CPU, with WebAssembly. */
import type { DeviceInfo } from './device-name.ts';

export function knownDevices(): DeviceInfo[] {
  return [{ device: 'cpu', installed: true }];
}
