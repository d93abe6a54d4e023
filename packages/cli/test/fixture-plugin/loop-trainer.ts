/** A trainer on the shared loop that learns nothing. */
import { type ConfigurableTrainer, defineTrainer, type RunOptions } from '@toolenv/training';

const loop: ConfigurableTrainer<RunOptions> = defineTrainer({
  name: 'loop',
  description: 'Learns nothing',
  options: { type: 'object', properties: {} },
  defaults: { tasksPerStep: 4, groupSize: 1, maxTokens: 8, maxAborted: 1 },
  create: () => ({ update: async () => ({ loss: 0 }) }),
});
export default loop;
