// @ts-nocheck: TypeScript checks code against the globals of Node, which are not there.
/**
 * The world of the interpreter, as the source of a script: Pyodide poses as a program in a web worker, and finds what it needs of a
 * browser. Everything here is made inside the context. No object of Node enters it, because an object leads to its constructor,
 * and the constructor to the process.
 */

/** @param {{ memory: number, seed: number }} limits `memory` in MiB. */
export function preludeSource({ memory, seed }) {
  return `'use strict'; (${prelude})(${memory}, ${seed})`;
}

/* biome-ignore-start lint: this function is never called here: its source runs in a context that has nothing but the language. */
function prelude(memory, seed) {
  const g = globalThis;
  g.self = g;
  const nothing = () => {};
  g.console = { log: nothing, warn: nothing, error: nothing, info: nothing, debug: nothing };
  g.location = { href: 'https://x/', toString: () => 'https://x/' };
  g.setTimeout = (call) => (Promise.resolve().then(call), 1);
  g.clearTimeout = nothing;
  g.performance = { now: () => Date.now() };
  g.WorkerGlobalScope = class {
    static [Symbol.hasInstance]() {
      return true;
    }
  };
  let state = seed >>> 0 || 1;
  g.crypto = {
    getRandomValues(array) {
      for (let i = 0; i < array.length; i++) {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        array[i] = state;
      }
      return array;
    },
  };
  g.__seed = (value) => {
    state = value >>> 0 || 1;
  };
  g.TextDecoder = class TextDecoder {
    decode(given = new Uint8Array()) {
      const bytes =
        given instanceof ArrayBuffer
          ? new Uint8Array(given)
          : new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
      const parts = [];
      let part = '';
      for (let i = 0; i < bytes.length; ) {
        let code = bytes[i++];
        if (code >= 240)
          code =
            ((code & 7) << 18) | ((bytes[i++] & 63) << 12) | ((bytes[i++] & 63) << 6) | (bytes[i++] & 63);
        else if (code >= 224) code = ((code & 15) << 12) | ((bytes[i++] & 63) << 6) | (bytes[i++] & 63);
        else if (code >= 192) code = ((code & 31) << 6) | (bytes[i++] & 63);
        part += code > 0x10ffff ? '\uFFFD' : String.fromCodePoint(code);
        if (part.length > 4096) {
          parts.push(part);
          part = '';
        }
      }
      return parts.join('') + part;
    }
  };
  g.TextEncoder = class TextEncoder {
    encode(text) {
      const bytes = [];
      for (const char of text) {
        const code = char.codePointAt(0);
        if (code < 128) bytes.push(code);
        else if (code < 2048) bytes.push(192 | (code >> 6), 128 | (code & 63));
        else if (code < 65536) bytes.push(224 | (code >> 12), 128 | ((code >> 6) & 63), 128 | (code & 63));
        else
          bytes.push(
            240 | (code >> 18),
            128 | ((code >> 12) & 63),
            128 | ((code >> 6) & 63),
            128 | (code & 63),
          );
      }
      return new Uint8Array(bytes);
    }
    encodeInto(text, target) {
      const bytes = this.encode(text);
      target.set(bytes);
      return { read: text.length, written: bytes.length };
    }
  };
  g.URL = class URL {
    constructor(address) {
      this.href = /^https?:/.test(address) ? address : 'https://x/' + address;
      this.pathname = this.href.slice(9);
    }
    toString() {
      return this.href;
    }
  };
  g.AbortController = class {
    signal = { addEventListener: nothing };
    abort() {}
  };
  g.Response = class {};
  g.__files = Object.create(null);
  g.__bytes = (length) => new Uint8Array(length);
  g.fetch = async (address) => {
    const bytes = g.__files[String(address).split('/').pop()];
    if (!bytes) throw new Error('there is no network');
    return {
      ok: true,
      status: 200,
      arrayBuffer: async () => bytes.buffer,
      text: async () => new g.TextDecoder().decode(bytes),
      json: async () => JSON.parse(new g.TextDecoder().decode(bytes)),
    };
  };
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength / 65536 + pages > memory * 16) throw new RangeError('memory limit');
    return grow.call(this, pages);
  };
  WebAssembly.instantiateStreaming = async (response, imports) =>
    WebAssembly.instantiate(await (await response).arrayBuffer(), imports);

  /** Called when the interpreter is ready: from now on, buffers are counted, and no memory but the interpreter's can be made. */
  let used = 0;
  g.__recount = () => {
    used = 0;
  };
  g.__seal = () => {
    const most = memory * 2 ** 20;
    const count = (bytes) => {
      // What is refused does not count: the interpreter itself needs some bytes to go on.
      if (!(used + bytes <= most)) throw new RangeError('memory limit');
      used += bytes;
    };
    const refuse = () => {
      throw new RangeError('memory limit');
    };
    const kinds = [
      'ArrayBuffer',
      'SharedArrayBuffer',
      'Int8Array',
      'Uint8Array',
      'Uint8ClampedArray',
      'Int16Array',
      'Uint16Array',
      'Int32Array',
      'Uint32Array',
      'Float32Array',
      'Float64Array',
      'BigInt64Array',
      'BigUint64Array',
    ];
    const typed = Object.getPrototypeOf(Uint8Array.prototype);
    const lengthOf = Object.getOwnPropertyDescriptor(typed, 'length').get;
    for (const kind of kinds) {
      const Real = g[kind];
      if (!Real) continue;
      const width = Real.BYTES_PER_ELEMENT ?? 1;
      const Counted = new Proxy(Real, {
        construct(target, given, asked) {
          const [first] = given;
          if (typeof first === 'number' || typeof first === 'string') count(Number(first) * width);
          else if (typeof first === 'object' && first !== null) {
            let length;
            try {
              length = lengthOf.call(first);
            } catch {}
            // A view of a buffer needs no memory; a copy of another array does.
            if (length === undefined && typeof first.length === 'number') length = first.length;
            if (length !== undefined) count(length * width);
          }
          return Reflect.construct(target, given, asked === Counted ? target : asked);
        },
      });
      Object.defineProperty(Real.prototype, 'constructor', { value: Counted });
      g[kind] = Counted;
    }
    for (const owner of [ArrayBuffer.prototype, g.SharedArrayBuffer?.prototype].filter(Boolean))
      for (const method of ['resize', 'grow', 'transfer', 'transferToFixedLength'])
        if (method in owner) Object.defineProperty(owner, method, { value: refuse });
    for (const part of [
      'Memory',
      'Table',
      // A module brings a memory of its own.
      'Module',
      'Instance',
      'instantiateStreaming',
      'instantiate',
      'compile',
      'compileStreaming',
    ])
      Object.defineProperty(WebAssembly, part, { value: refuse });
    // Frames would name the files of the machine, and lead to the functions that called the context.
    // V8 takes no stack where the limit is not a plain number. Pyodide sets the limit, which must not throw.
    Object.defineProperty(Error, 'stackTraceLimit', { get: () => 0, set: nothing, configurable: false });
    for (const name of ['fetch', '__files', '__bytes', '__seal', '__noimport']) delete g[name];
  };
}
/* biome-ignore-end lint: as above. */
