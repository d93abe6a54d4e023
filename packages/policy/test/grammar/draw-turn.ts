/** Turns of a model without any training: tokens of random distributions, with the tokenizers and templates of real models. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRng, type Rng, type ToolDescription } from '@toolenv/core';
import { Chat } from '../../src/chat/chat.ts';
import { drawToken } from '../../src/sampler/draw-token.ts';

const folder = join(import.meta.dirname, '../golden/chat');
const golden: { families: Record<string, { tokenizer: string; ends: string[] }> } = readJson('golden.json');

function readJson(file: string) {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}

/** The content of a golden tokenizer.json. */
export function readTokenizer(name: string) {
  return readJson(`tokenizers/${name}.json`);
}

export interface Family {
  chat: Chat;
  /** The number of tokens. */
  size: number;
  /** Some distributions of the next token. */
  distributions: Float32Array[];
}

export function openFamily(name: string): Family {
  const { tokenizer: file, ends } = golden.families[name]!;
  const tokenizer = readTokenizer(file);
  const added: { id: number; content: string }[] = tokenizer.added_tokens;
  const endTokens = added.filter(({ content }) => ends.includes(content)).map(({ id }) => id);
  const template = readFileSync(join(folder, 'templates', `${name}.jinja`), 'utf8');
  const chat = new Chat({
    folder: name,
    tokenizer,
    tokenizerConfig: { chat_template: template, bos_token: '<s>', eos_token: '</s>' },
    endTokens,
  });
  const vocabulary = Object.entries<number>(tokenizer.model.vocab);
  const size = 1 + Math.max(...vocabulary.map(([, id]) => id), ...added.map(({ id }) => id));
  const weights = new Float32Array(size).fill(1);
  // An untrained model writes long strings and lists, and much white space.
  for (const [text, id] of vocabulary) {
    if (/["\]}]/.test(text)) weights[id] = /^["\]}]+$/.test(text) ? 500 : 5;
    if (/^[ĠĊ▁]+$/.test(text)) weights[id] = 0.1;
  }
  for (const token of endTokens) weights[token] = 1000;
  const rng = createRng(1, name);
  return { chat, size, distributions: Array.from({ length: 50 }, () => distribution(weights, rng)) };
}

function distribution(weights: Float32Array, rng: Rng): Float32Array {
  // Of tokens with equal weights, some are 20 times as likely as others.
  const scores = weights.map((weight) => weight * Math.exp(3 * rng.float()));
  const sum = scores.reduce((total, score) => total + score, 0);
  return scores.map((score) => score / sum);
}

/** @returns The text of a turn that begins with `opening`, and whether the turn ended before the largest number of tokens. */
export function drawTurn(
  { chat, size, distributions }: Family,
  opening: string,
  { tools, seed, isConstrained }: { tools: ToolDescription[]; seed: number; isConstrained: boolean },
): { written: string; isWhole: boolean } {
  const limit = isConstrained ? chat.constrainCalls(tools, size) : undefined;
  const rng = createRng(seed, 'turn');
  const tokens = [...chat.encode(opening)];
  for (const token of tokens) limit?.accept(token);
  while (!chat.endTokens.includes(tokens.at(-1)!) && tokens.length < 250) {
    const { token } = drawToken(rng.pick(distributions), { temperature: 1, limit }, rng);
    tokens.push(token);
    if (!chat.endTokens.includes(token)) limit?.accept(token);
  }
  return { written: chat.written(Int32Array.from(tokens)), isWhole: chat.endTokens.includes(tokens.at(-1)!) };
}
