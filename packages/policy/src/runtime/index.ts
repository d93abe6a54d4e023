/** What a runtime of another package implements and needs. */
export type { Dim, ElementType, MatmulOptions, Ops, PooledAttention, Program } from './ops.ts';
export {
  type Argument,
  type RecordedBody,
  type RecordedNode,
  type RecordedProgram,
  recordProgram,
} from './record-program.ts';
export { ResidentTensor } from './resident-tensor.ts';
export {
  type AdamWUpdate,
  type CompileOptions,
  type DeviceOptimizer,
  type GradientRequest,
  gradientOf,
  type Runtime,
  type Tensor,
  type Tensors,
} from './runtime.ts';
export { broadcastAxes, broadcastShape, sizeOf } from './shape.ts';
