/** Attacks on the interpreter of `python-v1`, by programs of a model. */
import { createRng } from '@toolenv/core';
import { createPython } from '@toolenv/tools-code';
import { type Attack, holds, within } from './attack.ts';

const programs: Record<string, string> = {
  'endless output': 'while True: print("x" * 1000)',
  'memory bomb': 'kept = []\nwhile True: kept.append("x" * 10**6 + str(len(kept)))',
  'memory bomb in typed arrays':
    'import js\nkept = []\nwhile True: kept.append(js.Uint8Array.new(10**7).fill(1))',
  'memory bomb in JavaScript':
    'import js\nkept = js.Array.new()\nwhile True: kept.push("x".join(map(str, range(1000))))',
  'sort of an array of four billion': 'import js\njs.Array.new(2**32 - 1).sort()',
  'built-in function that needs more memory than there is':
    'import js\njs.Array.new(2**25).fill("x").concat(js.Array.new(2**27).fill(1))',
  'a gigabyte of output': 'print("x" * 10**8)',
  'broken JavaScript':
    'import js\njs.Array.prototype.push = None\njs.JSON.stringify = None\nprint("x" * 10**6)',
};

export const python: readonly Attack[] = Object.entries(programs).map(
  ([name, code]): Attack => ({
    name,
    attack: code,
    expected: 'a result within the time, and the next call is answered',
    alone: /memory bomb|gigabyte/.test(name),
    async run() {
      const tool = await createPython({}, { timeout: 2000, spare: 0 });
      const signal = new AbortController().signal;
      const ask = (program: string) => {
        const rng = createRng(1, 'python');
        const call = tool.execute({ code: program }, { episodeId: 'chaos', signal, rng, callIndex: 0 });
        return within(20_000, call);
      };
      try {
        const before = process.memoryUsage.rss();
        await ask(code);
        const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
        holds(grown < 700, `the process grew by ${Math.round(grown)} MiB`);
        // A program may leave an interpreter that breaks at the next call, which says so.
        await ask('1');
        const { content } = await ask('1 + 1');
        holds(
          (content[0] as { text?: string })?.text === '2',
          `the next call said ${JSON.stringify(content)}`,
        );
      } finally {
        await tool.close?.();
      }
    },
  }),
);
