/** Constrained calls parse and meet their schemas, whatever the model would write. */
import { createRng, type ToolDescription } from '@toolenv/core';
import { callMistake } from '@toolenv/core/tools';
import { expect, test } from 'vitest';
import { drawTurn, openFamily } from './draw-turn.ts';
import { randomObject } from './random-schema.ts';

test.each([
  ['qwen2.5', '<tool_call>'],
  ['llama3', '{"name":'],
  ['llama3', '<|python_tag|>'],
  ['mistral', '[TOOL_CALLS]'],
])(
  '%s: after %s, random distributions write calls that fit random schemas, and hardly any without the option',
  (name, opening) => {
    const family = openFamily(name);
    const calls = { constrained: 0, free: 0 };
    for (let set = 0; set < 5; set++) {
      const rng = createRng(set, 'tools');
      const tools = ['search', 'a.b*(c)', 'é"\\'].slice(0, 1 + rng.int(3)).map((tool): ToolDescription => {
        return { name: tool, description: '', inputSchema: randomObject(rng, 2) };
      });
      for (let seed = 0; seed < 11; seed++) {
        const mistakes = (isConstrained: boolean) => {
          const { written, isWhole } = drawTurn(family, opening, { tools, seed, isConstrained });
          const { toolCalls } = family.chat.parse(written);
          const found = toolCalls.map((call, i) => callMistake(call, i, tools, { maxCallsPerTurn: 400 }));
          // The largest number of tokens may cut the last call.
          return isWhole ? found : found.slice(0, -1);
        };
        const found = mistakes(true);
        expect(found).toEqual(found.map(() => undefined));
        calls.constrained += found.length;
        calls.free += mistakes(false).filter((mistake) => mistake === undefined).length;
      }
    }
    expect(calls.constrained).toBeGreaterThanOrEqual(55);
    expect(calls.free).toBeLessThan(5);
  },
);
