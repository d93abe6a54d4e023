/** A device that ONNX Runtime computes on, by the name of its execution provider. */
export type DeviceName = 'cpu' | 'webgpu' | 'cuda' | 'dml' | 'coreml';
