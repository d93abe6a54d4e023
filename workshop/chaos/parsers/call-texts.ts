/** Texts that a model might write in place of a tool call: valid calls, mutations of them, pieces in any order, and long runs. */
import type { Rng } from '@toolenv/core';

/** Makes text of the JSON of an argument. */
type Form = (value: string) => string;

const objects: readonly Form[] = [
  (value) => `{"name": "search", "arguments": {"query": ${value}}}`,
  (value) => `{"name": "search", "parameters": {"query": ${value}}}`,
  (value) => `{"name":"add","arguments":{"numbers":[1,2.5,-3e4],"exact":true,"unit":${value}}}`,
  (value) => `{"name": "search", "arguments": {"query": ${value}}, "id": "123456789"}`,
  (value) => `{"name": "search", "arguments": ${JSON.stringify(`{"query": ${value}}`)}}`,
];

const turns: readonly Form[] = [
  ...objects.flatMap((call): Form[] => [
    call,
    (value) => `<tool_call>\n${call(value)}\n</tool_call>`,
    (value) => `Let me see. <tool_call>${call('1')}</tool_call>\n<tool_call>${call(value)}</tool_call>`,
    (value) => `<|python_tag|>${call(value)}`,
    (value) => `${call(value)}; ${call('"b"')}`,
    (value) => `[TOOL_CALLS][${call(value)}, ${call('"b"')}]`,
  ]),
  (value) => `[TOOL_CALLS]search[ARGS]{"query": ${value}}`,
  (value) => `[TOOL_CALLS]search[ARGS]{"query": "a"}[TOOL_CALLS]add[ARGS]{"numbers": ${value}}`,
  (value) => `The answer is ${value}.`,
];

/** Pieces that separate calls. Long runs of them tempt a parser to try each place. */
const separators = [';', '; ', '<tool_call>', '</tool_call>', '[TOOL_CALLS]', '[ARGS]', '{', '"', '\\'];

/** Pieces that a parser may look for, or stumble over. */
const pieces = [
  ...separators,
  '<tool_call',
  '<|python_tag|>',
  '{"name":',
  '"arguments":',
  '"parameters":',
  '1}, "name": "other"',
  '1}, "name": "other", "more": {"query": 1',
  '{}, "name":"other"',
  '"__proto__"',
  '"constructor": {"prototype": 1}',
  ...'}[]:,/<>|',
  '\\"',
  '\\u',
  '\\ud800',
  '\ud800',
  '\udc00',
  '\u0000',
  '\u2028',
  '\ufeff',
  ' ',
  '\n',
  '\t',
  '1e999',
  '-0',
  'NaN',
  'true',
  'null',
  'search',
  '😀',
  // Of calls between tags and in Python.
  '<think>',
  '</think>',
  '<parameter=query>',
  '</parameter>',
  '<arg_key>query</arg_key>',
  '<arg_value>',
  'search(query=',
  'call:search{query:',
];

/** What texts are made of. */
export interface Parts {
  /** Valid turns with an argument. */
  turns: readonly Form[];
  separators: readonly string[];
  pieces: readonly string[];
}

/** @param markers Those of the format: half of the turns, separators and pieces have them. */
export function partsOf(markers: readonly string[]): Parts {
  const [open = '', close = '', ...inner] = markers;
  const own: Form[] = [
    ...objects.map(
      (call): Form =>
        (value) =>
          `${open}${call(value)}${close}`,
    ),
    (value) => `${open}search${inner.join('')}{"query": ${value}}${close}`,
    (value) => `${inner.join('')}${open}search\n<parameter=query>\n${value}\n</parameter>${close}`,
    (value) => `<think>${open}</think>${open}search(query=${value})${close}${markers.join('a')}`,
  ];
  const alike = <Part>(common: readonly Part[], more: readonly Part[]) =>
    more.length === 0 ? common : [...common, ...common.map((_, index) => more[index % more.length]!)];
  return {
    turns: alike(turns, own),
    separators: alike(separators, markers),
    pieces: alike(pieces, markers),
  };
}

/** Kilobytes of the longest texts. */
const longest = 64;
/** One text in this many is long. */
const longEvery = 100;

export function callText(rng: Rng, parts: Parts): string {
  if (rng.int(longEvery) === 0) return longText(rng, parts);
  const kind = rng.int(4);
  if (kind === 0) return joined(rng, parts);
  if (kind === 1) return rng.pick(parts.turns)(rng.pick(parts.pieces));
  return mutated(rng, parts);
}

/** A few pieces in any order. */
function joined(rng: Rng, { pieces }: Parts): string {
  return Array.from({ length: 1 + rng.int(8) }, () => rng.pick(pieces)).join('');
}

/** A valid turn with one to four mutations. */
function mutated(rng: Rng, { turns, pieces }: Parts): string {
  let text = rng.pick(turns)('"the river"');
  for (let count = 1 + rng.int(4); count > 0; count--) {
    const at = rng.int(text.length + 1);
    const to = Math.min(text.length, at + rng.int(8));
    const kind = rng.int(4);
    if (kind === 0) text = text.slice(0, at) + text.slice(to);
    else if (kind === 1) text = text.slice(0, at) + rng.pick(pieces) + text.slice(at);
    else if (kind === 2) text = text.slice(0, at) + rng.pick(pieces) + text.slice(to);
    else text = text.slice(0, to) + text.slice(at);
  }
  return text;
}

/** Great depth or a long run of a piece, as an argument or at any place of a valid turn. */
function longText(rng: Rng, parts: Parts): string {
  const length = 1_024 * (1 + rng.int(longest));
  const turn = rng.pick(parts.turns);
  const long = rng.int(2) === 0 ? nested(rng, length) : runOf(rng, parts, length);
  const kind = rng.int(3);
  if (kind === 0) return turn(long);
  if (kind === 1) return turn(JSON.stringify(long));
  const text = turn('"the river"');
  const at = rng.int(text.length + 1);
  return text.slice(0, at) + long + text.slice(rng.int(2) === 0 ? at : text.length);
}

/** Arrays or objects in each other. One in three is never closed. */
function nested(rng: Rng, length: number): string {
  const [open, close] = rng.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  const depth = Math.floor(length / (open.length + close.length));
  return `${open.repeat(depth)}1${rng.int(3) === 0 ? '' : close.repeat(depth)}`;
}

function runOf(rng: Rng, { separators, pieces }: Parts, length: number): string {
  const piece = rng.pick(rng.int(2) === 0 ? separators : pieces);
  return piece.repeat(Math.ceil(length / piece.length));
}
