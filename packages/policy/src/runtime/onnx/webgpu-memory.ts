/** WebGPU's memory. Only a program's outputs get there or come back, so a program copies: its output is its input. */
import { Programs } from '../programs.ts';
import type { DeviceMemory, Runtime, Tensor } from '../runtime.ts';
import { anyShape } from '../shape.ts';

export function webGpuMemory(compile: Runtime['compile']): DeviceMemory {
  const programs = new Programs();
  const through = async (tensor: Tensor, stays: boolean) => {
    const { length: rank } = tensor.dims;
    const program = await programs.get(`${stays ? 'copy' : 'read'} ${rank}`, () =>
      compile((ops) => ({ copy: ops.input('tensor', 'float32', anyShape(rank)) }), { stays: () => stays }),
    );
    return (await program.run({ tensor })).copy!;
  };
  return {
    isRemote: true,
    copy: (tensor) => through(tensor, true),
    read: (tensor) => through(tensor, false),
  };
}
