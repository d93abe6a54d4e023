/**
 * Thread of an interpreter in its process: Pyodide in a context that has nothing of Node. A plain thread is not a sandbox: there, Python reaches
 * the whole process by `js` and `os.system`. Only numbers and texts cross the border of the context.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import vm from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { preludeSource } from './context-prelude.js';

const { memory, saved, given } = workerData;
/** Whether it only makes the memory from which others begin. */
const isMaker = !saved && !given;
const folder = dirname(createRequire(import.meta.url).resolve('pyodide/package.json'));
const context = vm.createContext(Object.create(null), { codeGeneration: { strings: false, wasm: true } });

/**
 * @param {string} source
 * @param {string} filename
 */
function run(source, filename) {
  const refused = () => {
    throw new Error('there are no modules');
  };
  return new vm.Script(source, {
    filename,
    importModuleDynamically: /** @type {any} */ (refused),
  }).runInContext(context);
}

/**
 * Copies bytes into an array that the context makes.
 * @param {string} place
 * @param {Uint8Array} bytes
 */
function give(place, bytes) {
  run(`${place} = __bytes(${bytes.length})`, 'bytes.js').set(bytes);
}

run(preludeSource({ memory, seed: 1 }), 'prelude.js');
{
  // In a block, so that this memory is given back.
  const lock = readFileSync(join(folder, 'pyodide-lock.json'), 'utf8');
  const files = {
    'pyodide.asm.wasm': readFileSync(join(folder, 'pyodide.asm.wasm')),
    'python_stdlib.zip': readFileSync(join(folder, 'python_stdlib.zip')),
    // Without packages, which need a network. To read their list takes a tenth of the start.
    'pyodide-lock.json': Buffer.from(JSON.stringify({ ...JSON.parse(lock), packages: {} })),
  };
  for (const [name, bytes] of Object.entries(files)) give(`__files[${JSON.stringify(name)}]`, bytes);
  const snapshot = saved ? readFileSync(saved.path).subarray(saved.offset) : given;
  if (snapshot) give('globalThis.__snapshot', snapshot);
}

const factory = readFileSync(join(folder, 'pyodide.asm.mjs'), 'utf8')
  .replace(/import\.meta\.url/g, '"https://x/pyodide.asm.mjs"')
  .replace(/export default ([A-Za-z_$]+);?/, 'globalThis.__factory=$1;')
  .replace(/export\s*\{[^}]*\};?/g, '')
  .replace(/\bimport\(/g, '__noimport(');
run(factory, 'pyodide.asm.js');
const loader = readFileSync(join(folder, 'pyodide.js'), 'utf8').replace(/\bimport\(/g, '__noimport(');
run(`globalThis.__noimport = async () => ({ default: globalThis.__factory });${loader}`, 'pyodide.js');

/** Runs the code of a call as a notebook does: in one namespace, and with the value of a last expression. */
const runner = `
import sys as _sys, traceback as _traceback, random as _random
from pyodide.code import eval_code as _eval_code
_space = {"__name__": "__main__"}
def _run(code):
    try:
        value = _eval_code(code, _space, filename="<call>")
        if value is not None:
            print(repr(value))
        return True
    except BaseException as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != "<call>":
            frames = frames.tb_next
        _traceback.print_exception(type(error), error, frames, chain=False)
        return False
    finally:
        _sys.stdout.flush()
        _sys.stderr.flush()
`;
/** What programs import most, so that a snapshot has it. */
const common =
  'import json, re, math, random, collections, itertools, functools, fractions, decimal, statistics, datetime, string, heapq, bisect';

await run(
  `loadPyodide({
    indexURL: 'https://x/', stdLibURL: 'https://x/python_stdlib.zip', lockFileURL: 'https://x/pyodide-lock.json',
    env: { PYTHONHASHSEED: '0', HOME: '/home/pyodide' }, checkAPIVersion: false,
    ...(globalThis.__snapshot ? { _loadSnapshot: globalThis.__snapshot } : {}),
    ...(${isMaker} ? { _makeSnapshot: true } : {}),
  }).then((python) => { globalThis.__python = python; delete globalThis.__snapshot; return null; })`,
  'load.js',
);

if (isMaker) {
  run(`__python.runPython(${JSON.stringify(common)})`, 'common.js');
  parentPort?.postMessage(new Uint8Array(run('__python.makeMemorySnapshot()', 'snapshot.js')));
} else {
  // Called from here only: no program finds them.
  const { call, begin } = run(
    `(() => {
      const python = __python;
      python.runPython(${JSON.stringify(runner)});
      const run = python.globals.get('_run');
      const decoder = new TextDecoder();
      let kept = [], left = 0, cut = false;
      const write = (bytes) => {
        if (bytes.length > left) cut = true;
        const part = bytes.subarray(0, left);
        left -= part.length;
        if (part.length > 0) kept.push(part.slice());
        return bytes.length;
      };
      python.setStdout({ write });
      python.setStderr({ write });
      python.setStdin({ stdin: () => null });
      // Each flush crosses from Python to JavaScript.
      python.runPython('for _each in (_sys.stdout, _sys.stderr): _each.reconfigure(line_buffering=False)');
      const { stringify } = JSON;
      const recount = __recount, seedBytes = __seed;
      const begin = (value) => { seedBytes(value); python.runPython('_random.seed(' + Number(value) + ')'); };
      const answer = (code, output) => {
        recount();
        kept = []; left = output; cut = false;
        let ok = false;
        ok = run(code);
        let size = 0;
        for (const part of kept) size += part.length;
        const all = new Uint8Array(size);
        let at = 0;
        for (const part of kept) { all.set(part, at); at += part.length; }
        return stringify([String(decoder.decode(all)), ok === true, cut]);
      };
      __seal();
      for (const name of ['__recount', '__seed', '__python', '__factory', '_createPyodideModule', 'loadPyodide']) delete globalThis[name];
      return { call: answer, begin };
    })()`,
    'start.js',
  );
  // A promise that a program rejects ends nothing. What it was rejected with may be made by the program: nothing of it is read.
  process.on('unhandledRejection', () => {});
  parentPort?.on('message', ({ code, output, seed }) => {
    try {
      if (seed !== undefined) begin(Number(seed));
      const [text, ok, cut] =
        code === undefined ? ['', true] : JSON.parse(String(call(String(code), Number(output))));
      parentPort?.postMessage({ text: String(text), ok: ok === true, truncated: cut === true });
    } catch {
      // A program has broken its interpreter. What was thrown may be made by the program: nothing of it is read.
      parentPort?.postMessage({ killed: 'crash' });
    }
  });
  parentPort?.postMessage({ ready: true });
}
