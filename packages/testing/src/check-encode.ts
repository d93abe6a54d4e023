/** The rules for a policy's `encode`: its rows, and the prompts in them. */
import { isDeepStrictEqual } from 'node:util';
import type { EncodedRow, Observation, PlainText, Policy } from '@toolenv/core';
import type { Reporter } from './report.ts';
import { brief, Violation } from './violation.ts';

const answer = { role: 'assistant', content: 'By the sea.' } as const;
const more = { role: 'user', content: 'Where is the sea?' } as const;
const text: PlainText = {
  segments: [
    { text: 'Where is the river?', learn: false },
    { text: ' By the sea.', learn: true },
  ],
  ends: false,
};

/** @param promptOf The prompt with which the policy acts on an observation; `undefined` if it shows no tokens. */
export async function checkEncode(
  policy: Policy,
  report: Reporter,
  observations: readonly Observation[],
  promptOf: (observation: Observation) => Promise<Int32Array | undefined>,
): Promise<void> {
  if (!policy.encode) {
    report.skip(['POL-12', 'POL-13'], 'the policy has no encode');
    return;
  }
  const encodes = async () => {
    for (const { messages, tools } of observations) {
      await encoded(policy, { messages: [...messages, answer], tools }, 1);
      await encoded(policy, { messages: [...messages, answer, more, answer], tools }, 2);
    }
    const [open] = await encoded(policy, text, 1);
    const [ended] = await encoded(policy, { ...text, ends: true }, 1);
    if (ended!.tokens.length <= open!.tokens.length || ended!.mask.at(-1) !== 1)
      throw new Violation('POL-12', 'a learned token for the end of a text that ends', 'none');
    await encoded(policy, observations[0]!, 0);
  };
  await report.check(['POL-12'], encodes, report.wants('POL-13'));
  if (report.settled('POL-12')) {
    report.skip(['POL-13'], 'POL-12 is broken or left out');
    return;
  }
  await report.check(['POL-13'], async () => {
    for (const observation of observations) {
      const prompt = await promptOf(observation);
      if (!prompt) continue;
      const { messages, tools } = observation;
      const [row] = await encoded(policy, { messages: [...messages, answer], tools }, 1);
      const before = row!.tokens.slice(0, row!.mask.indexOf(1));
      if (isDeepStrictEqual(before, prompt)) continue;
      const expected = `the prompt ${brief([...prompt])} before the first turn`;
      throw new Violation('POL-13', expected, brief([...before]));
    }
  });
}

/** The rows of an example with so many turns. */
async function encoded(
  policy: Policy,
  example: Observation | PlainText,
  count: number,
): Promise<EncodedRow[]> {
  const given = structuredClone(example);
  const rows = await policy.encode!(given);
  if (!isDeepStrictEqual(given, example))
    throw new Violation('POL-12', `the example left as it was: ${brief(example)}`, brief(given));
  if (!isDeepStrictEqual(await policy.encode!(given), rows))
    throw new Violation('POL-12', 'equal rows for equal examples', 'other rows');
  const found = rows.flatMap(runsOf);
  const expected = [...Array(count).keys()];
  if (isDeepStrictEqual(found, expected)) return rows;
  throw new Violation('POL-12', `turns ${brief(expected)}, one run of tokens each`, brief(found));
}

/** The turns of a row in order, one entry for each run of tokens. */
function runsOf({ tokens, mask, turns }: EncodedRow): number[] {
  const isTyped = tokens instanceof Int32Array && mask instanceof Uint8Array && turns instanceof Int32Array;
  if (!isTyped) throw new Violation('POL-12', 'Int32Array, Uint8Array and Int32Array', 'other types');
  const { length } = tokens;
  if (length === 0 || mask.length !== length || turns.length !== length) {
    const received = `${length} tokens, ${mask.length} mask bits, ${turns.length} turns`;
    throw new Violation('POL-12', 'tokens, and as many mask bits and turns', received);
  }
  const wrong = turns.findIndex((turn, t) => mask[t] !== Number(turn >= 0));
  if (wrong >= 0) {
    const expected = `mask ${Number(turns[wrong]! >= 0)} for a token of turn ${turns[wrong]}`;
    throw new Violation('POL-12', expected, `mask ${mask[wrong]} at position ${wrong}`);
  }
  if (mask[0] !== 0) throw new Violation('POL-12', 'mask 0 at position 0', 'mask 1');
  return [...turns].filter((turn, t) => turn >= 0 && turn !== turns[t - 1]);
}
