/**
 * Process of an interpreter, in JavaScript because Node starts it as it is. The interpreter has a thread, so that this one sees that the parent
 * has ended, and how much memory there is, whatever a program does. Both directions have frames; the first from the parent is a snapshot, JSON that
 * says where its file is, or empty to ask for a snapshot.
 */
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { frame, readFrames } from './frames.js';

/** MiB of young objects of JavaScript. */
const young = 16;
/** MiB by which the process may grow during a call, in addition to the memory of the interpreter. */
const slack = 256;
/** Milliseconds between looks at the memory. */
const watch = 50;

// A call needs few of Python's functions: the others are not compiled. They are optimized after some 10 ms rather than 1 ms: half of the CPU of a start.
setFlagsFromString('--wasm-lazy-compilation');
setFlagsFromString('--wasm-tiering-budget=20000000');

const memory = Number(process.argv[2]);
/** @type {Worker | undefined} */
let worker;
/** @type {NodeJS.Timeout | undefined} */
let watcher;
/** Whether it has said a word. */
let isReady = false;

// An ordinary end would wait for the thread.
const end = () => process.kill(process.pid, 'SIGKILL');

/** @param {object} message */
function say(message) {
  clearInterval(watcher);
  isReady = true;
  const bytes = message instanceof Uint8Array ? message : Buffer.from(JSON.stringify(message));
  process.stdout.write(frame(bytes), () => 'killed' in message && end());
}

/** @param {Uint8Array} first */
function start(first) {
  const snapshot =
    first[0] === 0x7b ? { saved: JSON.parse(first.toString()) } : first.length > 0 ? { given: first } : {};
  worker = new Worker(new URL('./interpreter.js', import.meta.url), {
    execArgv: [],
    env: {},
    workerData: { memory, ...snapshot },
    resourceLimits: {
      maxOldGenerationSizeMb: 2 * memory,
      maxYoungGenerationSizeMb: young,
      stackSizeMb: 4,
    },
    // Nothing else is written to the pipes.
    stdout: true,
    stderr: true,
  });
  // Without a word, where no program can have been the cause.
  const fail = (/** @type {'memory' | 'crash'} */ killed) => (isReady ? say({ killed }) : end());
  worker.on('message', say);
  worker.on('error', (/** @type {NodeJS.ErrnoException} */ { code }) =>
    fail(code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash'),
  );
  worker.on('exit', () => fail('crash'));
}

process.stdin.on('end', end);
process.stdin.on('error', end);
process.stdout.on('error', end);
readFrames(
  process.stdin,
  2 ** 31,
  (bytes) => {
    if (!worker) return start(bytes);
    const most = process.memoryUsage.rss() + (memory + slack) * 2 ** 20;
    // Memory that neither V8 nor the interpreter counts.
    watcher = setInterval(() => process.memoryUsage.rss() > most && say({ killed: 'memory' }), watch);
    worker.postMessage(JSON.parse(bytes.toString()));
  },
  end,
);
