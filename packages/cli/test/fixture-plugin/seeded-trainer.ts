/** A trainer whose options have the names of flags of the command: one as it is, one as its opposite. */
import type { Trainer } from '@toolenv/core/plugins';

const seeded: Trainer = {
  name: 'seeded',
  description: 'Trains nothing',
  options: {
    type: 'object',
    properties: { seed: { type: 'integer' }, noTrajectories: { type: 'boolean' } },
  },
  async *train() {},
};
export default seeded;
