/** A trainer whose option has the name of an option of the reference policy. */
import type { Trainer } from '@toolenv/core/plugins';

const precise: Trainer = {
  name: 'precise',
  description: 'Trains nothing',
  options: { type: 'object', properties: { precision: { type: 'integer', default: 3 } } },
  async *train() {},
};
export default precise;
