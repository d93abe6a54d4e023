/** A policy for command lines. */
import { definePolicy, type PolicyDefinition } from '@toolenv/core/plugins';
import { obedient } from './missing-rules.ts';

const policy: PolicyDefinition = definePolicy({
  name: 'obedient-v1',
  description: 'Follows the rules of its instructions.',
  options: { type: 'object', properties: {}, additionalProperties: false },
  open: async () => obedient,
});
export default policy;
