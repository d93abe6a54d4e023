export { knownDevices } from '#known-devices';
export { Chat, type ChatOptions, type TemplateArguments } from './chat/chat.ts';
export { type Checkpoint, readCheckpoint, writeCheckpoint } from './checkpoint/checkpoint.ts';
export type { LearnerOptions } from './learner/learner-options.ts';
export type { LoraOptions, LoraTarget } from './learner/lora.ts';
export { TransformerLearner } from './learner/transformer-learner.ts';
export { initialWeights } from './model/initial-weights.ts';
export { createModel, type Model, parameterCount, placeModel } from './model/model.ts';
export type { ModelConfig } from './model/model-config.ts';
export { parameterShapes } from './model/parameter-shapes.ts';
export type { Device } from './runtime/device.ts';
export { type DeviceInfo, devices } from './runtime/device-name.ts';
export { type OnnxRuntimeOptions, onnxRuntime } from './runtime/onnx/onnx-runtime.ts';
export { probeDevice } from './runtime/probe-device.ts';
export { type Precision, type Runtime, type Tensors, tensor } from './runtime/runtime.ts';
export type { TfjsBackend } from './runtime/tfjs/tfjs-backend.ts';
export { type TfjsRuntimeOptions, tfjsRuntime } from './runtime/tfjs/tfjs-runtime.ts';
export { type Drawing, drawToken } from './sampler/draw-token.ts';
export type {
  LearnedModel,
  OpenedSampler,
  Sample,
  SampleRequest,
  TokenSampler,
} from './sampler/sample-request.ts';
export { Sampler, type SamplerOptions } from './sampler/sampler.ts';
export {
  createPolicy,
  type LoadOptions,
  loadPolicy,
  type PolicyOptions,
  type TransformerParts,
  TransformerPolicy,
} from './transformer-policy.ts';
