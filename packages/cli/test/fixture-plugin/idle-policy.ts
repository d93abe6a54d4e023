/** A policy that never presses. It writes down each call, and may break down after some of them. */
import { appendFileSync } from 'node:fs';
import { definePolicy } from '@toolenv/core/plugins';

export default definePolicy({
  name: 'idle',
  description: 'Does nothing',
  options: { type: 'object', properties: {} },
  async open() {
    const { IDLE_LOG: log, IDLE_FAILS_AFTER: limit = 'never' } = process.env;
    let calls = 0;
    return {
      spec: { name: 'idle', contextLength: 100 },
      async act() {
        if (calls === Number(limit)) throw new Error('broken down');
        calls += 1;
        if (log !== undefined) appendFileSync(log, 'call\n');
        return { text: 'done', toolCalls: [], stopReason: 'stop' };
      },
      async close() {},
    };
  },
});
