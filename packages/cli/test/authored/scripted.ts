/** A policy that is a script, and has nothing to close. */
import { scriptedPolicy } from '@toolenv/core';
import { definePolicy } from '@toolenv/core/plugins';

export default definePolicy({
  name: 'scripted',
  description: 'Says 42',
  options: { type: 'object', properties: {} },
  open: async () => scriptedPolicy(['42']),
});
