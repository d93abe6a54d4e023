/** GiGPO (arXiv 2505.10978): GRPO with the advantage of anchor states. */
import type { ConfigurableTrainer, RunOptions } from '@toolenv/training';
import { type AnchorStateOptions, anchorState } from './anchor-state.ts';
import { grpo } from './grpo.ts';
import type { GrpoOptions } from './grpo-options.ts';

export const gigpo: ConfigurableTrainer<GrpoOptions & RunOptions & AnchorStateOptions> = grpo({
  advantage: anchorState,
}) as ConfigurableTrainer<GrpoOptions & RunOptions & AnchorStateOptions>;
export default gigpo;
