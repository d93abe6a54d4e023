/**
 * The process of the engine. libtorch's calls block, and a wrong handle or a lack of memory ends their process, so the trainer has another.
 * Answers each request in its order.
 */
import { totalmem } from 'node:os';
import { messageOf, ToolEnvError } from '@toolenv/core';
import { dieWithParent } from './die-with-parent.ts';
import { Engine } from './engine.ts';
import type { Answer, Request } from './engine-client.ts';
import { giveBackIfLittle, giveMemoryBack, leaveSettings, saveMemory } from './freed-memory.ts';
import { outOfMemory } from './out-of-memory.ts';

/** Milliseconds without a request after which the engine gives free memory back. */
const rest = Number(process.argv[2]);
/** Milliseconds after which the process is worn: its memory is full of gaps by then. */
const lifetime = Number(process.argv[3]);
const begun = performance.now();
/** Bytes that this process may have at most. */
const memory = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());

let engine: Engine | undefined;
let resting: NodeJS.Timeout | undefined;
let isWorn = false;

process.on('message', ({ id, method, given }: Request) => {
  clearTimeout(resting);
  let answer: Answer;
  try {
    if (method === 'open') engine = new Engine(...given);
    const result = method === 'open' ? engine!.version : call(engine!, method, given);
    // The gradients of an update are disposed of after it, and need not be taken along.
    answer = { id, isWorn, result };
    if (method === 'adamw') isWorn = process.platform === 'linux' && performance.now() - begun >= lifetime;
  } catch (thrown) {
    const lack = outOfMemory(thrown);
    if (lack) saveMemory();
    const error = lack ?? thrown;
    const code = ToolEnvError.isInstance(error) ? error.code : undefined;
    answer = { id, isWorn, error: { message: messageOf(error), code } };
  }
  process.send!(answer);
  giveBackIfLittle(process.availableMemory(), memory, performance.now());
  resting = setTimeout(giveMemoryBack, rest);
});
// The process that trains decides when to stop, and saves its work first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit());
dieWithParent();
if (process.argv[4] === 'own settings') leaveSettings();

function call(
  engine: Engine,
  method: Exclude<Request['method'], 'open'>,
  given: readonly unknown[],
): unknown {
  return engine.attempt(() => (engine[method] as (...given: readonly unknown[]) => unknown)(...given));
}
