/** Shows episodes one by one in a terminal: a key for the next, the previous, and the end. */
import { emitKeypressEvents } from 'node:readline';
import { ownSequence, paint } from './guarded-output.ts';

interface Key {
  name?: string;
  ctrl?: boolean;
}

const help = 'space next · p previous · q quit';

/** The terminal: what the keys write, and what shows the episodes. */
interface Terminal {
  input: Pick<NodeJS.ReadStream, 'setRawMode'> & NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/** Whether someone can press keys. */
export function hasKeys(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/**
 * @param views Asked for the next only when someone wants to see it. Those that were seen stay in memory.
 * @returns Once the last was seen, or someone quits.
 * @throws The signal's reason.
 */
export async function pageEpisodes(
  views: AsyncIterable<string>,
  signal: AbortSignal,
  { input, output }: Terminal = { input: process.stdin, output: process.stdout },
): Promise<void> {
  const source = views[Symbol.asyncIterator]();
  const seen: string[] = [];
  let at = -1;
  // A closed terminal cannot be read or set; its end is noticed below.
  input.on('error', ignore);
  emitKeypressEvents(input);
  input.setRawMode(true);
  input.resume();
  try {
    let move = 1;
    while (true) {
      if (at + move === seen.length) {
        const { value, done } = await source.next();
        if (done) {
          if (seen.length > 0) output.write(`${paint('dim', 'That was the last episode.')}\n`);
          return;
        }
        seen.push(value);
      }
      at = Math.max(0, at + move);
      output.write(`${seen[at]}\n\n${paint('inverse', ` ${at + 1} `)} ${paint('dim', help)}`);
      const next = await pressedMove(input, signal);
      output.write(ownSequence('\u001b[G\u001b[K'));
      if (next === undefined) return;
      move = next;
    }
  } finally {
    input.setRawMode(false);
    input.pause();
    await source.return?.();
  }
}

function ignore(): void {}

/** 1 for the next episode, -1 for the previous, `undefined` for the end, which a closed terminal is too. */
function pressedMove(input: NodeJS.EventEmitter, signal: AbortSignal): Promise<1 | -1 | undefined> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      input.off('keypress', onKey);
      input.off('end', onEnd);
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      done();
      reject(signal.reason);
    };
    const onEnd = (): void => {
      done();
      resolve(undefined);
    };
    const onKey = (_text: string | undefined, { name, ctrl }: Key): void => {
      // In raw mode the terminal sends Ctrl-C as a key.
      if (ctrl && name === 'c') process.kill(process.pid, 'SIGINT');
      const move = moves[name ?? ''];
      if (ctrl || move === undefined) return;
      done();
      resolve(move === 0 ? undefined : move);
    };
    input.on('keypress', onKey);
    input.on('end', onEnd);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

const moves: Readonly<Record<string, 1 | -1 | 0>> = {
  space: 1,
  return: 1,
  enter: 1,
  n: 1,
  j: 1,
  right: 1,
  down: 1,
  p: -1,
  k: -1,
  b: -1,
  left: -1,
  up: -1,
  q: 0,
  escape: 0,
};
