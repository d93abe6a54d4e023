/** What a model runs in Python to abort its own episode: it breaks its interpreter now, or leaves something behind that breaks it later. */

const js = (lines: string) => `import js\n${lines}`;

/** `bad`, a function that fails when JavaScript calls it. */
const bad = 'from pyodide.ffi import create_proxy\nbad = create_proxy(lambda *given: 1 / 0)';

export const pythonAttempts: Readonly<Record<string, string>> = {
  'endless loop': 'while True: pass',
  'endless loop that catches its end':
    'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
  'endless recursion': 'def f(): return f()\nf()',
  'recursion without a limit': 'import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()',
  'recursion in JavaScript': `${js(bad)}\no = js.Object.new()\np = create_proxy(lambda *given: js.String.new(o))\no.toString = p\njs.String.new(o)`,
  'memory in Python': 'kept = []\nwhile True: kept.append("x" * 10**6 + str(len(kept)))',
  'memory in typed arrays': js('kept = []\nwhile True: kept.append(js.Uint8Array.new(10**7).fill(1))'),
  'memory in JavaScript': js('kept = js.Array.new()\nwhile True: kept.push("x".join(map(str, range(1000))))'),
  'memory of a map': js('kept = js.Map.new()\nfor i in range(10**7): kept.set(i, str(i))'),
  'huge number': 'import sys\nsys.set_int_max_str_digits(0)\nprint(7 ** 10**8)',
  'huge text': js('print(len(js.String.new("ab").repeat(2**28)))'),
  'huge output': 'import sys\nfor _ in range(10**3): sys.__stdout__.write("x" * 10**6)',
  'slow pattern': 'import re\nre.match("^(a+)+$", "a" * 100 + "b")',
  'slow pattern in JavaScript': js('js.RegExp.new("^(a+)+$").test("a" * 100 + "b")'),
  'search that cannot be interrupted': js('js.Array.new(2**28).indexOf(1)'),
  'sleep for ever': 'import time\ntime.sleep(10**6)',
  'wait that nothing ends': js('js.Atomics.wait(js.Int32Array.new(js.SharedArrayBuffer.new(8)), 0, 0)'),
  'wait for a promise': js('from pyodide.ffi import run_sync\nrun_sync(js.Promise.new(lambda *given: None))'),
  'sys.exit': 'import sys\nsys.exit(1)',
  'os._exit': 'import os\nos._exit(0)',
  'os.abort': 'import os\nos.abort()',
  'process.exit': js('js.process.exit(1)'),
  'self.close': js('js.self.close()'),
  'forged message': js('js.self.postMessage(js.JSON.parse(\'{"broken": true}\'))\njs.postMessage(None)'),
  signal: 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nsignal.raise_signal(9)',
  thread: 'import threading\nthreading.Thread(target=print).start()',
  'rejected promise': js('js.Promise.reject(1)\njs.Promise.reject(js.Object.new())'),
  'rejection with a hostile object': js(
    `${bad}\nh = js.Object.new()\nh.get = bad\nh.getPrototypeOf = bad\njs.Promise.reject(js.Proxy.new(js.Object.new(), h))`,
  ),
  'timer that throws': js(`${bad}\njs.setTimeout(bad, 0)\njs.setInterval(bad, 1)`),
  'endless microtasks': js(
    'from pyodide.ffi import create_proxy\np = create_proxy(lambda *given: js.Promise.resolve(1).then(p))\np()',
  ),
  'endless event loop':
    'import asyncio\nasync def f():\n    while True: await asyncio.sleep(0)\nasyncio.ensure_future(f())',
  'microtask that ends the interpreter': js(
    'import os\nfrom pyodide.ffi import create_proxy\njs.Promise.resolve(1).then(create_proxy(lambda *given: os._exit(1)))',
  ),
  'finalizer that throws': js(
    `${bad}\nr = js.FinalizationRegistry.new(bad)\nfor i in range(10**5): r.register(js.Object.new(), i)`,
  ),
  'deleted globals': js(
    'for n in js.Object.getOwnPropertyNames(js.globalThis): js.Reflect.deleteProperty(js.globalThis, n)',
  ),
  'replaced functions of JavaScript': js(
    `${bad}\nfor c in (js.String, js.Array, js.Uint8Array, js.Object, js.Promise, js.Number, js.Map):\n    for n in js.Object.getOwnPropertyNames(c.prototype):\n        try: js.Reflect.set(c.prototype, n, bad)\n        except BaseException: pass`,
  ),
  'getters on every object': js(
    `${bad}\nd = js.Object.new()\nd.get = d.set = bad\nfor n in ("0", "then", "code", "text", "broken"): js.Object.defineProperty(js.Object.prototype, n, d)`,
  ),
  'frozen world': js(
    'js.Object.freeze(js.Object.prototype)\njs.Object.freeze(js.Array.prototype)\njs.Object.freeze(js.globalThis)',
  ),
  'overwritten memory': 'import ctypes\nctypes.memset(0, 255, 10**7)',
  'overwritten heap of Pyodide': 'import pyodide_js\npyodide_js._module.HEAP8.fill(255)',
  'ended Pyodide': 'import pyodide_js\npyodide_js._module._exit(0)',
  'replaced print and streams':
    'import builtins, sys\nsys.stdout = sys.stderr = sys.__stdout__ = None\nbuiltins.print = builtins.repr = None',
  'closed streams':
    'import os, sys\nsys.stdout.close()\nsys.stderr.close()\nfor fd in range(9): os.close(fd)',
  'stream that throws':
    'import sys\nclass S:\n    def __getattr__(self, name): raise SystemExit\nsys.stdout = sys.stderr = S()',
  'replaced json and modules':
    'import sys, json\njson.dumps = json.loads = None\nfor name in list(sys.modules): sys.modules[name] = None',
  'emptied built-ins': 'import builtins\nfor name in dir(builtins): setattr(builtins, name, None)',
  'trace function that throws':
    'import sys\ndef t(*given): raise MemoryError\nsys.settrace(t)\nsys.setprofile(t)',
  'exception that cannot be shown':
    'class E(BaseException):\n    def __str__(self): raise E()\n    __repr__ = __str__\nraise E()',
  'value that cannot be shown': 'class V:\n    def __repr__(self):\n        while True: pass\nV()',
  'missing modules': 'import numpy, socket, multiprocessing, _ssl',
  'NUL and surrogates': 'print("\\0" * 99, chr(0xD800), "\\x1b[2J\\u202e")\n"\\udfff"',
  'source with NUL': 'print(1)\0print(2)',
  'source with a surrogate': 'print("\ud800")',
  'deep source': `print(${'('.repeat(5000)}1${')'.repeat(5000)})`,
};
