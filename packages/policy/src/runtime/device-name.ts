/** A device that ONNX Runtime computes on, by the name of its execution provider. */
export const devices = ['cpu', 'webgpu', 'cuda', 'dml', 'coreml'] as const;
export type DeviceName = (typeof devices)[number];

export interface DeviceInfo {
  device: DeviceName;
  /** Whether the device's library is installed. A driver or a GPU may still be missing. */
  installed: boolean;
}
