/** Parses a range of texts of one format, in a process that can be ended. */
import { createRng } from '@toolenv/core';
import type { Reporter } from '../part.ts';
import { callText, partsOf } from './call-texts.ts';
import { formats } from './formats.ts';
import { judge } from './judge.ts';

export interface TextRange {
  format: string;
  seed: number;
  from: number;
  to: number;
}

/** Texts that share a generator. */
const blockLength = 1_000;
/** Wrong texts after which to stop: a broken parser may be slow on many. */
const enough = 20;

/** What is wrong with which texts. Says after each block how many texts are done. */
export async function run({ format, seed, from, to }: TextRange, { say }: Reporter): Promise<string[]> {
  const wrong: string[] = [];
  const parts = partsOf(formats[format]!.markers);
  for (let start = from; start < to && wrong.length < enough; start += blockLength) {
    const rng = createRng(seed, 'parsers', format, start);
    const end = Math.min(to, start + blockLength);
    for (let index = start; index < end; index++) {
      const text = callText(rng, parts);
      const what = judge(formats[format]!, text, format === 'mistral');
      if (what) wrong.push(`${JSON.stringify(text.slice(0, 60))}, ${text.length} characters: ${what}`);
    }
    say(String(end - from));
    // Lets the message leave before the next block, which may hang.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return wrong;
}
