/** Python in WebAssembly: what holds, by trying. The probes must be run again for another version of Pyodide. */
import { readdirSync } from 'node:fs';
import { createRng, type Tool, type ToolContext } from '@toolenv/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPython } from '../src/index.ts';
import { openTwins } from '../test/twins.ts';

let tool: Tool<{ code: string }>;
beforeAll(async () => {
  tool = await createPython({}, { timeout: 5000, output: 10_000 });
}, 120_000);
afterAll(() => tool.close?.());

let calls = 0;
function context(episodeId: string, signal = new AbortController().signal): ToolContext {
  return { episodeId, signal, rng: createRng(1, 'tool', 0), callIndex: calls++ };
}

async function run(code: string, episodeId = 'one'): Promise<string> {
  const { content } = await tool.execute({ code }, context(episodeId));
  return content.map((block) => ('text' in block ? String(block.text) : '')).join('\n');
}

test('variables stay, values and exceptions are shown, and output is bounded', async () => {
  expect(await run('x = 20\ndef double(n): return 2 * n')).toBe('[no output]');
  expect(await run('print("é😀"); double(x) + 2')).toBe('é😀\n42');
  expect(await run('def f():\n    return 1 / 0\nf()')).toBe(
    'Traceback (most recent call last):\n  File "<call>", line 3, in <module>\n  File "<call>", line 2, in f\nZeroDivisionError: division by zero',
  );
  expect(await run('if')).toContain('SyntaxError');
  expect(await run('input()')).toContain('EOFError');
  expect(await run('raise SystemExit(3)')).toContain('SystemExit: 3');
  const long = await run('for i in range(10**5): print("x" * 100)');
  expect(long.length).toBeLessThan(10_200);
  expect(long).toMatch(/\[output is missing: there were more than 10000 bytes\]$/);
  expect(await run('x')).toBe('20');
});

test('a function of JavaScript that cannot be interrupted is a result, and the next call is answered', async () => {
  const hurried = await createPython({}, { timeout: 500, spare: 0 });
  try {
    // It takes twenty seconds or more.
    const code = 'import js\njs.Array.new(2**29).indexOf(1)';
    const started = performance.now();
    const { content } = await hurried.execute({ code }, context('stuck'));
    expect(content[0]).toMatchObject({ text: expect.stringContaining('stopped after 0.5 s') });
    expect(performance.now() - started).toBeLessThan(15_000);
    expect((await hurried.execute({ code: '1 + 1' }, context('stuck'))).content[0]).toMatchObject({
      text: '2',
    });
  } finally {
    await hurried.close?.();
  }
}, 60_000);

test('each episode has an interpreter of its own, with a seeded random', async () => {
  const code = 'import random, os; [random.random(), os.urandom(4).hex(), hash("a")]';
  const [first, second] = [await run(code, 'a'), await run(code, 'b')];
  expect(second).toBe(first);
  expect(await run('"x" in globals()', 'b')).toBe('False');
  await Promise.all([tool.release?.('a'), tool.release?.('b')]);
});

test('calls of one turn run one after another, and each gets its own answer', async () => {
  const calls = ['1', 'turn = 2', 'turn + 1'].map((code) => run(code, 'turn'));
  expect(await Promise.all(calls)).toEqual(['1', '[no output]', '3']);
  const broken = ['import os; os._exit(1)', '2'].map((code) => run(code, 'turn'));
  expect(await Promise.all(broken)).toEqual([expect.stringContaining('crashed'), '2']);
  await tool.release?.('turn');
});

test('two episodes with one id that run at once have variables of their own', async () => {
  const { twins, call, close } = await openTwins(tool as Tool);
  await call(0, { code: 'kept = 1' });
  expect(await call(1, { code: '"kept" in globals()' })).toBe('False');
  await twins[1].close();
  expect(await call(0, { code: 'kept' })).toBe('1');
  await close();
});

test('programs that print 100 MB or break JavaScript keep their bounds, and the next call but one is answered', async () => {
  const programs = [
    'print("x" * 10**8)',
    'import js\njs.Array.prototype.push = None\njs.JSON.stringify = None\nprint("x" * 10**6)',
  ];
  const before = process.memoryUsage.rss();
  for (const program of programs) {
    expect((await run(program, 'odd')).length).toBeLessThan(11_000);
    await run('1', 'odd');
    expect(await run('1 + 1', 'odd')).toBe('2');
  }
  expect(process.memoryUsage.rss() - before).toBeLessThan(700 * 2 ** 20);
});

test('an interpreter that is ended while it works is a fault of the infrastructure', async () => {
  const own = await createPython({}, { spare: 0 });
  const call = own.execute({ code: 'while True: pass' }, context('ended'));
  setTimeout(() => void own.close!(), 500);
  await expect(call).rejects.toMatchObject({ code: 'infrastructure.python' });
});

const probes: [what: string, code: string, answer: RegExp][] = [
  ['a command of the machine', 'import os; os.system("touch /tmp/escaped")', /^-1$/],
  ['a process', 'import subprocess; subprocess.run(["id"])', /Error/],
  ['a socket', 'import socket; socket.create_connection(("127.0.0.1", 22), 1)', /Error/],
  ['the files of the machine', 'open("/etc/hostname").read()', /FileNotFoundError/],
  ['the processes of the machine', 'import os; os.listdir("/proc/1")', /FileNotFoundError/],
  ['a folder of Node', 'import pyodide_js; pyodide_js.mountNodeFS("/mnt", "/")', /Error/],
  [
    'NODEFS',
    'import pyodide_js; pyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, None, "/mnt")',
    /Error/,
  ],
  ['the process', 'import js; js.process.env', /AttributeError/],
  ['require', 'import js; js.require("fs")', /AttributeError/],
  ['fetch', 'import js; js.fetch("https://x/python_stdlib.zip")', /AttributeError/],
  ['run_js', 'from pyodide.code import run_js; run_js("1 + 1")', /EvalError|Code generation/],
  ['eval', 'import js; js.eval("1 + 1")', /EvalError|Code generation/],
  ['Function', 'import js; js.Function.new("return 1")', /EvalError|Code generation/],
  [
    'a constructor of a function',
    'import js; js.setTimeout.constructor("return process")()',
    /EvalError|Code generation/,
  ],
  [
    'the constructor of an async function',
    'import js; js.Object.getPrototypeOf(js.WebAssembly.instantiate).constructor("return process")()',
    /Error/,
  ],
  [
    'the functions and files of a stack trace',
    `import js
from pyodide.ffi import create_proxy
seen = []
js.Error.stackTraceLimit = 100
js.Error.prepareStackTrace = create_proxy(lambda error, frames: seen.extend(frames))
js.Error.new("x").stack
js.Error.prepareStackTrace = None
[len(seen), js.Error.new("y").stack]`,
    /^\[0, None\]$/,
  ],
  [
    'the functions that end an interpreter',
    'import js; [x for x in dir(js) if x in ("__call", "__recount", "__seed", "__python", "__seal")]',
    /^\[\]$/,
  ],
  [
    'a new memory',
    'import js; js.WebAssembly.Memory.new(js.JSON.parse(\'{"initial": 10000}\'))',
    /memory limit/,
  ],
  ['a gigabyte in a typed array', 'import js; js.Uint8Array.new(10**9)', /memory limit/],
  [
    'a gigabyte behind a constructor',
    'from pyodide.ffi import to_js\nto_js(b"1").constructor.new(10**9)',
    /memory limit/,
  ],
  [
    'many typed arrays',
    'import js\nkept = [js.Uint8Array.new(10**7).fill(1) for _ in range(100)]',
    /memory limit/,
  ],
  [
    'a buffer that grows',
    'import js; js.ArrayBuffer.new(8, js.JSON.parse(\'{"maxByteLength": 1000000000}\')).resize(10**9)',
    /memory limit/,
  ],
  [
    'a module with a memory of its own',
    'import js\nfrom pyodide.ffi import to_js\njs.WebAssembly.Module.new(js.Uint8Array.new(to_js([0, 97, 115, 109, 1, 0, 0, 0])))',
    /memory limit/,
  ],
  ['much memory', 'bytearray(200 * 10**6)', /MemoryError/],
  ['much memory in steps', 'kept = []\nwhile True: kept.append("x" * 10**6 + str(len(kept)))', /MemoryError/],
  ['deep recursion', 'def f(): return f()\nf()', /RecursionError/],
];

test.each(probes)('Python does not get %s', async (_, code, answer) => {
  expect(await run(code, 'probe')).toMatch(answer);
  expect(await run('1 + 1', 'probe')).toBe('2');
});

/** What programs leave behind that fails, or never ends, when they are over. */
const leftBehind: [what: string, code: string, next: RegExp][] = [
  ['a promise that is rejected', 'import js; js.Promise.reject(1)', /^2/],
  [
    'many promises that are rejected',
    'import js\nfor _ in range(1000): js.Promise.reject(None)',
    /^2|stopped/,
  ],
  [
    'a function that throws in a microtask',
    'import js\nfrom pyodide.ffi import create_once_callable\ndef fail(*_): raise SystemExit(1)\njs.setTimeout(create_once_callable(fail))',
    /^2/,
  ],
  [
    'a function that ends the interpreter in a microtask',
    'import js, os\nfrom pyodide.ffi import create_once_callable\njs.setTimeout(create_once_callable(lambda *_: os._exit(1)))',
    /^2|crashed/,
  ],
  [
    'a microtask that begins another for ever',
    'import js\nfrom pyodide.ffi import create_proxy\ndef again(*_): js.setTimeout(proxy)\nproxy = create_proxy(again)\nagain()',
    /stopped after 5 s/,
  ],
];

test.each(leftBehind)(
  '%s is a result, and the next call but one begins anew',
  async (_, code, next) => {
    await run(code, 'left');
    expect(await run('1 + 1', 'left')).toMatch(next);
    await run('1', 'left');
    expect(await run('1 + 1', 'left')).toBe('2');
    await tool.release?.('left');
  },
  40_000,
);

test('no probe has left anything on the machine', () => {
  expect(readdirSync('/tmp')).not.toContain('escaped');
});
