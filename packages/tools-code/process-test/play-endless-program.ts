/** Says a word while its interpreter runs for ever. Started, and killed, by `killing-python.test.ts`. */
import { createRng } from '@toolenv/core';
import { createPython } from '../src/index.ts';

const tool = await createPython({}, { timeout: 600_000, spare: 0 });
const { signal } = new AbortController();
const ask = (code: string) =>
  tool.execute({ code }, { episodeId: 'one', signal, rng: createRng(1), callIndex: 0 });
await ask('1');
const endless = ask('while True: pass');
setTimeout(() => console.log('running'), 500);
await endless;
