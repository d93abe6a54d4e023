export { Chat, type Turn } from './chat.ts';
export { type Checkpoint, readCheckpoint, writeCheckpoint } from './checkpoint.ts';
export { parameterShapes } from './decoder.ts';
export { chooseDevice, type Device, type DeviceInfo, devices, knownDevices } from './device.ts';
export { type LoraOptions, type LoraTarget, loraTargets } from './lora.ts';
export { createModel, type Model, parameterCount, placeModel } from './model.ts';
export { type ModelConfig, readModelConfig } from './model-config.ts';
export { type OnnxRuntimeOptions, onnxRuntime } from './onnx/onnx-runtime.ts';
export { type DeviceProbe, probeDevice } from './probe-device.ts';
export { type Precision, type Runtime, type Tensors, tensor } from './runtime.ts';
export { type Sample, type SampleRequest, Sampler, type SamplerOptions } from './sampler.ts';
export type { TfjsBackend } from './tfjs/tfjs-backend.ts';
export { type TfjsRuntimeOptions, tfjsRuntime } from './tfjs/tfjs-runtime.ts';
export {
  formatOf,
  hermesFormat,
  llamaFormat,
  mistralFormat,
  type ParsedTurn,
  type ToolCallFormat,
} from './tool-call-formats.ts';
export { type TrainingMemory, trainingMemory } from './training-memory.ts';
export { type LearnerOptions, TransformerLearner } from './transformer-learner.ts';
export {
  createPolicy,
  type LoadedPolicy,
  loadPolicy,
  type PolicyOptions,
  TransformerPolicy,
} from './transformer-policy.ts';
