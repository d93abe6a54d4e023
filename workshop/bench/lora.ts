/** `npm run bench -- lora`: a step that trains adapters of rank 16, with checkpointed layers where the model is large. */
import type { ModelConfig } from '@toolenv/policy';
import type { Benchmark } from './benchmark.ts';
import { learnerSteps } from './learner-steps.ts';
import { modelShape } from './model.ts';
import { fullRows } from './train.ts';

export function lora(config: ModelConfig): Benchmark {
  const shape = { rows: 4, length: 256, steps: 1, rank: 16, ...modelShape(config) };
  return {
    shape,
    peerScript: 'lora.py',
    async prepare(runtime) {
      const { run, close } = await learnerSteps(runtime, config, fullRows(shape), {
        lora: { rank: shape.rank },
        gradientCheckpointing: config.hidden_size > 512,
      });
      return { tokens: shape.rows * shape.length * shape.steps, round: () => run(shape.steps), close };
    },
  };
}
