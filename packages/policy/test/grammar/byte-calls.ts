/** Hermes calls over a vocabulary of single bytes: whether a grammar reads a text. */
import type { JsonSchema } from '@toolenv/core';
import { CallConstraints, type CallVocabulary } from '../../src/grammar/call-constraints.ts';

/** After the bytes, which are tokens 0 to 255. */
export const [endToken, specialToken] = [256, 257];

/** @param bytes Those that the vocabulary has. */
export function byteVocabulary(bytes: readonly number[] = [...Array(256).keys()]): CallVocabulary {
  const hex = (byte: number) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
  const vocab = Object.fromEntries(bytes.map((byte) => [hex(byte), byte]));
  const added_tokens = ['<end>', '<special>'].map((content, i) => ({ content, id: 256 + i, special: true }));
  const tokenizer = { model: { type: 'BPE', vocab }, decoder: { type: 'ByteFallback' }, added_tokens };
  const special = { markers: [], endTokens: [endToken] };
  return { folder: 'bytes', tokenizer, tokenizerConfig: {}, format: 'hermes', ...special, size: 258 };
}

const constraints = new CallConstraints(byteVocabulary());

/** Reads the arguments of a call. @returns What of them is not allowed, or an empty text. */
export function refused(inputSchema: JsonSchema, args: string | Uint8Array, name = 'search'): string {
  const limit = constraints.limit([{ name, inputSchema }]);
  const before = `Now. <tool_call>{"name": ${JSON.stringify(name)}, "arguments": `;
  for (const byte of Buffer.from(before)) limit.accept(byte);
  const whole = Buffer.concat([Buffer.from(args), Buffer.from('}</tool_call> Done.')]);
  for (const [i, byte] of whole.entries()) {
    if (!isAllowed(limit.allowed, byte)) return whole.subarray(i).toString();
    const isInside = i < args.length && i > 0;
    if (isInside && isAllowed(limit.allowed, endToken)) throw new Error('The turn may end inside a call.');
    if (isInside && isAllowed(limit.allowed, specialToken))
      throw new Error('A call may have special tokens.');
    limit.accept(byte);
  }
  if (!isAllowed(limit.allowed, endToken)) throw new Error('The turn may not end after a call.');
  return '';
}

export function isAllowed(allowed: Uint32Array | undefined, token: number): boolean {
  return allowed === undefined || ((allowed[token >>> 5]! >>> (token & 31)) & 1) === 1;
}
