/** Turns that a model without any training would write: tokens from random distributions, with the calls of a real tokenizer. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRng, type ToolDescription } from '@toolenv/core';
import { Chat } from '../../src/chat/chat.ts';
import { drawToken } from '../../src/sampler/draw-token.ts';

const folder = join(import.meta.dirname, '../golden/chat');
const golden: { families: Record<string, { tokenizer: string; ends: string[] }> } = readJson('golden.json');

function readJson(file: string) {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}

/** A chat with the tokenizer and the template of a model family. */
export interface Family {
  chat: Chat;
  /** The number of tokens. */
  size: number;
  /** The token with which a call begins. */
  opening: number;
  weights: Float32Array;
}

export function openFamily(name: string, opens: string): Family {
  const { tokenizer: file, ends } = golden.families[name]!;
  const tokenizer = readJson(`tokenizers/${file}.json`);
  const added: { id: number; content: string }[] = tokenizer.added_tokens;
  const endTokens = added.filter(({ content }) => ends.includes(content)).map(({ id }) => id);
  const template = readFileSync(join(folder, 'templates', `${name}.jinja`), 'utf8');
  const chat = new Chat({ folder: name, tokenizer, tokenizerConfig: { chat_template: template }, endTokens });
  const texts: [string, number][] = [
    ...Object.entries<number>(tokenizer.model.vocab),
    ...added.map(({ content, id }): [string, number] => [content, id]),
  ];
  const size = Math.max(...texts.map(([, id]) => id)) + 1;
  const weights = new Float32Array(size).fill(1);
  // Strings and lists would be long if their ends were as rare as other tokens.
  for (const [text, id] of texts) if (/["\]}]/.test(text)) weights[id] = 30;
  const opening = texts.find(([text]) => text === opens)![1];
  return { chat, size, opening, weights };
}

interface Turn {
  written: string;
  /** Whether the turn ended before the largest number of tokens. */
  isWhole: boolean;
  tokens: number[];
}

/** Draws a turn that begins with a call. */
export function drawTurn(
  { chat, size, opening, weights }: Family,
  tools: readonly ToolDescription[],
  { seed, temperature, isConstrained }: { seed: number; temperature: number; isConstrained: boolean },
): Turn {
  const limit = isConstrained ? chat.constrainCalls([...tools], size) : undefined;
  const rng = createRng(seed, 'turn');
  const tokens = [opening];
  limit?.accept(opening);
  while (tokens.length < 1500) {
    const { token } = drawToken(distribution(weights, rng, temperature), { temperature, limit }, rng);
    tokens.push(token);
    if (chat.endTokens.includes(token))
      return { written: chat.written(Int32Array.from(tokens)), isWhole: true, tokens };
    limit?.accept(token);
  }
  return { written: chat.written(Int32Array.from(tokens)), isWhole: false, tokens };
}

function distribution(weights: Float32Array, rng: { float(): number }, temperature: number): Float32Array {
  // Logits from 0 to 4: the likeliest of equal tokens are 50 times as likely as others.
  const scores = weights.map((weight) => weight * Math.exp((4 * rng.float()) / temperature));
  const sum = scores.reduce((total, score) => total + score, 0);
  return scores.map((score) => score / sum);
}
