/**
 * `npm run bench -- tokenise`: English documentation in the tokens of a byte-level tokenizer like Qwen2's, which the peer trains
 * first. The peer is Hugging Face's library in Rust. Each round opens the tokenizer anew, as a run does.
 */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { openChat } from '@toolenv/policy/chat';
import { busyShare, warnIfBusy } from './machine.ts';
import { median } from './median.ts';
import { startPeer } from './peer.ts';
import { findPython, pythonCommand } from './python.ts';

/** This file runs from workshop/bench/dist. */
const root = join(import.meta.dirname, '../../..');
const checkpoint = join(root, 'packages/tiny-policy/checkpoint');
const vocabulary = 32_000;

/**
 * Tokens per second of both sides: medians over `rounds`, measured in turns.
 * @throws ToolEnvError `usage.no_peer` without a Python that has the peer, because the peer makes the tokenizer.
 */
export async function measureTokenise(rounds: number): Promise<Record<string, unknown>> {
  const python = findPython(['tokenizers']);
  if (python === undefined) {
    const message = `${pythonCommand()} has no tokenizers, the library that trains the tokenizer: install it, or name another Python in TOOLENV_PYTHON.`;
    throw new ToolEnvError('usage.no_peer', message);
  }
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-bench-tokenise-'));
  try {
    const texts = await documentation();
    await cp(checkpoint, folder, { recursive: true });
    const config = JSON.parse(await readFile(join(checkpoint, 'config.json'), 'utf8'));
    await writeFile(join(folder, 'config.json'), JSON.stringify({ ...config, vocab_size: vocabulary }));
    await writeFile(join(folder, 'texts.json'), JSON.stringify(texts));
    const job = { peerScript: 'tokenise.py', shape: { folder, vocabulary } };
    const peer = await startPeer(python, job, { threads: 1, device: 'cpu' });
    const theirs: number[][] = JSON.parse(await readFile(join(folder, 'tokens.json'), 'utf8'));
    const tokens = theirs.reduce((sum, row) => sum + row.length, 0);
    const ours = await tokenise(folder, texts);
    const otherTokens = ours.filter((row, text) => !isSame(row, theirs[text]!)).length;
    const otherWork = await busyShare();
    const rates = { ours: [] as number[], peer: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      const start = performance.now();
      await tokenise(folder, texts);
      rates.ours.push((1000 * tokens) / (performance.now() - start));
      rates.peer.push(tokens / (await peer.round()).seconds);
    }
    await peer.close();
    warnIfBusy(otherWork);
    const [own, other] = [median(rates.ours), median(rates.peer)];
    return {
      name: 'tokenise',
      ours: Math.round(own),
      peer: Math.round(other),
      ratio: Number((own / other).toFixed(2)),
      unit: 'tokens/s',
      shape: { texts: texts.length, characters: texts.join('').length, tokens, vocabulary },
      otherTokens,
      otherWork: Number(otherWork.toFixed(2)),
      rounds: { ours: rates.ours.map(Math.round), peer: rates.peer.map(Math.round) },
      versions: { node: process.version, ...peer.versions },
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The Markdown of this repository's pages and of the installed packages. */
async function documentation(): Promise<string[]> {
  const texts: string[] = [];
  for (const folder of ['docs', 'node_modules']) {
    const files = (await readdir(join(root, folder), { recursive: true })).filter((file) =>
      file.endsWith('.md'),
    );
    for (const file of files.sort()) texts.push(await readFile(join(root, folder, file), 'utf8'));
  }
  return texts;
}

async function tokenise(folder: string, texts: readonly string[]): Promise<Int32Array[]> {
  const { chat } = await openChat(folder);
  return texts.map((text) => chat.encode(text));
}

function isSame(ours: Int32Array, theirs: readonly number[]): boolean {
  return ours.length === theirs.length && ours.every((token, index) => token === theirs[index]);
}
