/** A policy of one weight: the probability of doing what was asked. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Action, createRng } from '@toolenv/core';
import type { Learner } from '@toolenv/core/learner';
import { definePolicy, type PolicyHandle } from '@toolenv/core/plugins';

export default definePolicy({
  name: 'weight',
  description: 'One weight',
  options: { type: 'object', properties: { weight: { type: 'number', default: 0.3 } } },
  async open({ weight: initial }: { weight: number }) {
    let weight = initial;
    const learner = {
      async step() {
        weight = Math.min(1, weight + 0.05);
        return { gradNorm: weight };
      },
      async save(folder: string) {
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, 'config.json'), JSON.stringify({ weight }));
        await writeFile(join(folder, 'optimizer.safetensors'), 'state');
      },
      async load(folder: string) {
        ({ weight } = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')));
      },
    } as unknown as Learner;
    const policy: PolicyHandle = {
      spec: { name: 'weight', contextLength: 100 },
      async act({ messages }, { seed }): Promise<Action> {
        const asked = Number(/\d+/.exec(String(messages[0]?.content))?.[0]);
        const pressed = messages.filter(({ role }) => role === 'tool').length;
        const presses = createRng(seed).float() < weight ? asked > pressed : asked <= pressed;
        const tokens = {
          prompt: Int32Array.of(1, 2),
          action: Int32Array.of(3),
          logprobs: Float32Array.of(-0.5),
        };
        return presses
          ? {
              text: 'press',
              toolCalls: [{ id: `${pressed}`, name: 'press', arguments: {} }],
              stopReason: 'tool_call',
              tokens,
            }
          : { text: 'done', toolCalls: [], stopReason: 'stop', tokens };
      },
      learner,
      async close() {},
    };
    return policy;
  },
});
