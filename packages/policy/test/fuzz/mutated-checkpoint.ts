/** Damages a checkpoint folder as a bad disk, a bad script or a malicious author would. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Rng } from '@toolenv/core';
import { hostileTemplates } from '../chat/hostile-templates.ts';

/**
 * Damages one file of the folder.
 * @returns What was done, to repeat it and to name it in a failure.
 */
export async function mutateCheckpoint(folder: string, rng: Rng): Promise<string> {
  const names = (await readdir(folder)).sort();
  const name = rng.pick(names);
  const file = join(folder, name);
  const bytes = await readFile(file);
  const [what, changed] = rng.pick(name.endsWith('.safetensors') ? ofWeights : ofText)(bytes, rng);
  if (changed === undefined) await rm(file);
  else await writeFile(file, changed);
  return `${name}: ${what}`;
}

type Mutation = (bytes: Buffer, rng: Rng) => readonly [what: string, bytes: Uint8Array | string | undefined];

const cut: Mutation = (bytes, rng) => {
  const length = rng.int(bytes.length);
  return [`cut to ${length} bytes`, bytes.subarray(0, length)];
};

const flip: Mutation = (bytes, rng) => {
  const changed = Buffer.from(bytes);
  const places = Array.from({ length: 1 + rng.int(4) }, () => rng.int(bytes.length));
  for (const place of places) changed[place] = changed[place]! ^ (1 << rng.int(8));
  return [`flipped bits of bytes ${places.join(', ')}`, changed];
};

const remove: Mutation = () => ['removed', undefined];

const replaceFile: Mutation = (_, rng) => {
  const content = rng.pick([
    '',
    '{',
    'null',
    '[]',
    '{}',
    '"text"',
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  ]);
  return [`replaced by ${content.slice(0, 10)}`, content];
};

/** Replaces or removes a value somewhere in the JSON. */
const editJson: Mutation = (bytes, rng) => {
  const [what, json] = editedJson(bytes.toString(), rng);
  return [what, json];
};

const replaceTemplate: Mutation = (bytes, rng) => {
  const [name, chat_template] = rng.pick(Object.entries(hostileTemplates));
  return [`the template of ${name}`, JSON.stringify({ ...JSON.parse(bytes.toString()), chat_template })];
};

const editHeader: Mutation = (bytes, rng) => {
  const length = Number(bytes.readBigUInt64LE());
  const [what, json] = editedJson(bytes.toString('utf8', 8, 8 + length), rng);
  const header = Buffer.from(json);
  const start = Buffer.alloc(8);
  start.writeBigUInt64LE(BigInt(header.length));
  return [`header: ${what}`, Buffer.concat([start, header, bytes.subarray(8 + length)])];
};

const editHeaderLength: Mutation = (bytes, rng) => {
  const changed = Buffer.from(bytes);
  const length = rng.pick([0n, 1n, 7n, BigInt(bytes.length), 2n ** 31n, 2n ** 53n, 2n ** 64n - 1n]);
  changed.writeBigUInt64LE(length);
  return [`header length ${length}`, changed];
};

const notFinite: Mutation = (bytes, rng) => {
  const changed = Buffer.from(bytes);
  const place = bytes.length - 4 * (1 + rng.int(100));
  changed.writeFloatLE(rng.pick([Number.NaN, Number.POSITIVE_INFINITY]), place);
  return [`not a finite number at byte ${place}`, changed];
};

const ofText = [cut, flip, remove, replaceFile, editJson, editJson, editJson, editJson, replaceTemplate];
const ofWeights = [cut, flip, remove, replaceFile, editHeader, editHeader, editHeaderLength, notFinite];

/** JSON texts, because JSON.stringify would write null for 1e999. */
const values = [
  ...['null', 'true', '0', '-1', '1', '0.5', '7', '1e9', '1000000000', '9007199254740993', '1e999', '-1e999'],
  ...['""', '"x"', '"8"', '[]', '{}', '[null]', '{"a": 1}', `"${'y'.repeat(10_000)}"`, '"\\u001b[2J\\n"'],
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
];

function editedJson(text: string, rng: Rng): [what: string, json: string] {
  const root: unknown = JSON.parse(text);
  let at = root as Record<string, unknown>;
  const path: string[] = [];
  for (;;) {
    const key = rng.pick(Object.keys(at));
    path.push(key);
    const next = at[key];
    const isInner = typeof next === 'object' && next !== null && Object.keys(next).length > 0;
    if (!isInner || rng.float() < 0.2) break;
    at = next as Record<string, unknown>;
  }
  const key = path.at(-1)!;
  if (rng.float() < 0.15) {
    delete at[key];
    return [`removed ${path.join('/')}`, JSON.stringify(root)];
  }
  const value = rng.pick(values);
  const place = 'the value goes here';
  at[key] = place;
  return [
    `${path.join('/')} = ${value.slice(0, 30)}`,
    JSON.stringify(root).replace(`"${place}"`, () => value),
  ];
}
