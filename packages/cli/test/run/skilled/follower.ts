/** A policy that says what it is asked to say if its system message has a skill for that. */
import { definePolicy } from '@toolenv/core/plugins';

export default definePolicy({
  name: 'follower',
  description: 'Does what its skill says.',
  options: { type: 'object', properties: {} },
  async open() {
    return {
      spec: { name: 'follower', contextLength: 100_000 },
      async act({ messages: [first, second] }) {
        const isSkilled = first!.role === 'system' && first!.content.includes('Repeat the word.');
        const text = isSkilled ? second!.content.replace('Say ', '') : '';
        return { text, toolCalls: [], stopReason: 'stop' };
      },
    };
  },
});
