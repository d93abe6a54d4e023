/** Runs programs of a model that could end this process or keep its cores, and prints what each answered. Started by `killing-python.test.ts`. */
import { createRng } from '@toolenv/core';
import { createPython } from '../src/index.ts';
import { killingPrograms } from './killing-programs.ts';

const tool = await createPython({}, { timeout: 2_000, spare: 0 });
const { signal } = new AbortController();
let callIndex = 0;
const ask = async (code: string) => {
  const { content } = await tool.execute(
    { code },
    { episodeId: 'one', signal, rng: createRng(1), callIndex: callIndex++ },
  );
  return String((content[0] as { text: string }).text);
};
for (const [name, code] of Object.entries(killingPrograms)) {
  const answer = (await ask(code)).slice(0, 200);
  await ask('1');
  const next = await ask('1 + 1');
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ name, answer, next, busy: (user + system) / 500_000 }));
}
await tool.close?.();
