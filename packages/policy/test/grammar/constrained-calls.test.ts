/** Constrained calls parse and meet their schemas, whatever the model would write. */
import { createRng, isParseFailure, type ToolDescription } from '@toolenv/core';
import { callMistake } from '@toolenv/core/tools';
import { expect, test } from 'vitest';
import { drawTurn, openFamily } from './draw-turn.ts';
import { randomObject } from './random-schema.ts';

const limits = { maxCallsPerTurn: 300 };

test.each([
  ['qwen2.5', '<tool_call>'],
  ['llama3', '{"'],
  ['mistral', '[TOOL_CALLS]'],
])(
  '%s: calls from random distributions fit random schemas, and without the option they do not',
  (name, opens) => {
    const family = openFamily(name, opens);
    const counts = { whole: 0, calls: 0, mistaken: 0, free: 0 };
    for (let seed = 0; seed < 80; seed++) {
      const rng = createRng(seed, 'tools');
      const tools = ['search', 'a.b*(c)', 'é"\\'].slice(0, 1 + rng.int(3)).map((tool): ToolDescription => {
        return { name: tool, description: '', inputSchema: randomObject(rng, 2) };
      });
      const options = { seed, temperature: 1 + rng.float() };
      const turn = drawTurn(family, tools, { ...options, isConstrained: true });
      const mistakes = (written: string) =>
        family.chat.parse(written).toolCalls.map((call, i) => callMistake(call, i, tools, limits));
      counts.whole += Number(turn.isWhole);
      if (turn.isWhole) {
        const found = mistakes(turn.written);
        expect(found, turn.written).toEqual(found.map(() => undefined));
        counts.calls += found.length;
      }
      const free = drawTurn(family, tools, { ...options, isConstrained: false });
      counts.free += Number(mistakes(free.written).some((mistake) => mistake === undefined));
      counts.mistaken += Number(family.chat.parse(free.written).toolCalls.some(isParseFailure));
    }
    console.log(name, counts);
  },
);
