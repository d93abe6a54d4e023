/** Damages bytes and JSON, as disks, downloads and hostile authors do. */
import type { Rng } from '@toolenv/core';

/** Cuts, flips, removes, repeats or replaces bytes. */
export function mutateBytes(rng: Rng, bytes: Buffer): Buffer {
  const at = rng.int(bytes.length + 1);
  const to = Math.min(bytes.length, at + 1 + rng.int(64));
  const kind = rng.int(6);
  if (kind === 0) return bytes.subarray(0, at);
  if (kind === 1) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
  if (kind === 2) return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
  if (kind === 3) return Buffer.concat([bytes, Buffer.alloc(1 + rng.int(64), rng.int(256))]);
  const copy = Buffer.from(bytes);
  // Headers and the beginnings of files are the most likely to matter.
  const start = kind === 4 ? rng.int(Math.min(256, copy.length)) : at;
  for (let index = start; index < Math.min(copy.length, start + 1 + rng.int(16)); index++)
    copy[index] = rng.int(256);
  return copy;
}

/** Values that no field expects. A text that begins with `$` stands for JSON that cannot be written by JSON.stringify. */
const hostile: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  1e9,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e308,
  '',
  'x',
  '../../../etc/passwd',
  '\u0000',
  '\u001b[31mred\u001b[0m\u001b]0;title\u0007',
  '\ud800',
  '\u202e',
  '__proto__',
  'x'.repeat(100_000),
  [],
  {},
  [null],
  { __proto__: null, a: 1 },
  { constructor: { prototype: { polluted: true } } },
  '$proto',
  '$deep',
  '$wide',
  '$huge number',
];

const rawJson: Readonly<Record<string, string>> = {
  $proto: '{"__proto__": {"polluted": true}}',
  $deep: `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  $wide: `[${'0,'.repeat(200_000)}0]`,
  '$huge number': `1${'0'.repeat(400)}`,
};

/** The JSON with one to three fields removed, renamed, repeated, or replaced by a hostile value. */
export function mutateJson(rng: Rng, json: string): string {
  const value: unknown = structuredClone(JSON.parse(json));
  for (let count = 1 + rng.int(3); count > 0; count--) mutateField(rng, value);
  return JSON.stringify(value).replaceAll(/"(\$[a-z ]+)"/g, (whole, name: string) => rawJson[name] ?? whole);
}

function mutateField(rng: Rng, root: unknown): void {
  const parents = [...containers(root)];
  const parent = parents.length > 0 ? rng.pick(parents) : undefined;
  if (!parent) return;
  const key = rng.pick(Object.keys(parent));
  const kind = rng.int(6);
  if (kind === 0 && !Array.isArray(parent)) delete parent[key];
  else if (kind === 1 && !Array.isArray(parent)) {
    parent[rng.pick(['__proto__', 'constructor', 'name', `${key} `, ''])] = parent[key];
    delete parent[key];
  } else parent[key] = structuredClone(rng.pick(hostile));
}

/** Every array and object that is not empty, the shallow ones more than once, because they have few fields. */
function* containers(value: unknown, depth = 0): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return;
  for (let copy = depth; copy < 4; copy++) yield value as Record<string, unknown>;
  if (Object.keys(value).length > 200) {
    // The vocabulary of a tokenizer: one field stands for all.
    yield value as Record<string, unknown>;
    return;
  }
  for (const inner of Object.values(value)) yield* containers(inner, depth + 1);
}
