/**
 * The model computes what transformers computes: token ids, logits and the likeliest tokens. The short form compares with `golden.json`,
 * which `npm run real-model -- --golden` writes, so that it needs no PyTorch.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Message } from '@toolenv/core';
import {
  Chat,
  createModel,
  loadPolicy,
  onnxRuntime,
  readCheckpoint,
  type TransformerPolicy,
} from '@toolenv/policy';
import { AllLogits } from '../../packages/policy/test/all-logits.ts';
import { askTransformers, floatsOf, largestDifference } from '../interop/transformers-view.ts';
import { questions, texts } from './prompts.ts';
import type { Report } from './report.ts';

/** What transformers makes of the first texts and questions. */
interface Golden {
  ids: number[][];
  prompts: {
    tokens: number[];
    greedy: number[] /** After the prompt: token → logit. */;
    logits: [number, number][];
  }[];
}

const goldenFile = join(import.meta.dirname, 'golden.json');
/** Of logits in float32. */
const tolerance = 1e-3;
const goldenPrompts = 4;
const goldenLogits = 8;
export const newTokens = 32;

export const conversationOf = (question: string): { messages: Message[]; tools: [] } => ({
  messages: [{ role: 'user', content: question }],
  tools: [],
});

/** The likeliest tokens after each question. */
export function greedyTokens(policy: TransformerPolicy, asked: readonly string[]): Promise<number[][]> {
  const sampling = { maxTokens: newTokens, temperature: 0, seed: 1 };
  return Promise.all(
    asked.map(async (question) => [...(await policy.act(conversationOf(question), sampling)).tokens!.action]),
  );
}

export async function checkParity(folder: string, python: string, report: Report): Promise<void> {
  const checkpoint = await readCheckpoint(folder);
  const chat = new Chat(checkpoint);
  const prompts = questions.map((question) => [...chat.prompt(conversationOf(question))]);
  const sequences = [...prompts.slice(0, 4), prompts.slice(4, 14).flat()];
  const theirs = await askTransformers(python, {
    folder,
    sequences,
    texts,
    conversations: questions.map(conversationOf),
    new_tokens: newTokens,
  });
  const equalIds = texts.filter((text, index) =>
    isDeepStrictEqual([...chat.encode(text)], theirs.ids[index]),
  );
  report.check(
    equalIds.length === texts.length,
    'token ids',
    `${equalIds.length} of ${texts.length} texts equal`,
  );
  const equalPrompts = prompts.filter((ids, index) => isDeepStrictEqual(ids, theirs.rendered_ids[index]));
  report.check(
    equalPrompts.length === prompts.length,
    'ids of chat prompts',
    `${equalPrompts.length} of ${prompts.length} equal`,
  );
  const logits = new AllLogits(onnxRuntime(), createModel(checkpoint.config, checkpoint.weights));
  let largest = 0;
  for (const [index, tokens] of sequences.entries()) {
    const ours = Float32Array.from((await logits.of(tokens)).flatMap((row) => [...row]));
    largest = Math.max(largest, largestDifference(ours, floatsOf(theirs.logits[index]!)));
  }
  const positions = sequences.flat().length;
  report.check(
    largest <= tolerance,
    'logits',
    `${positions} positions, largest difference ${largest.toExponential(1)}`,
  );
  await using policy = await loadPolicy(folder);
  const greedy = await greedyTokens(policy, questions);
  const equal = greedy.filter((tokens, index) => isDeepStrictEqual(tokens, theirs.greedy![index]));
  report.check(
    equal.length === questions.length,
    'greedy tokens',
    `${equal.length} of ${questions.length} answers of up to ${newTokens} tokens equal`,
  );
}

/** Writes what {@link checkGolden} compares with. */
export async function writeGolden(folder: string, python: string): Promise<void> {
  const asked = questions.slice(0, goldenPrompts);
  const request = { folder, texts, conversations: asked.map(conversationOf) };
  const first = await askTransformers(python, { ...request, sequences: [], new_tokens: newTokens });
  const { logits } = await askTransformers(python, { ...request, sequences: first.rendered_ids });
  const prompts = first.rendered_ids.map((tokens, index) => {
    const all = floatsOf(logits[index]!);
    const last = [...all.subarray(all.length - all.length / tokens.length)];
    const likeliest = last.map((logit, token): [number, number] => [token, logit]);
    likeliest.sort(([, a], [, b]) => b - a);
    return { tokens, greedy: first.greedy![index]!, logits: likeliest.slice(0, goldenLogits) };
  });
  await writeFile(goldenFile, `${JSON.stringify({ ids: first.ids, prompts } satisfies Golden)}\n`);
}

export async function checkGolden(folder: string, report: Report): Promise<void> {
  const golden = JSON.parse(await readFile(goldenFile, 'utf8')) as Golden;
  const checkpoint = await readCheckpoint(folder);
  const chat = new Chat(checkpoint);
  const asked = questions.slice(0, golden.prompts.length);
  const ids = texts.map((text) => [...chat.encode(text)]);
  const prompts = asked.map((question) => [...chat.prompt(conversationOf(question))]);
  const isEqual = isDeepStrictEqual([ids, prompts], [golden.ids, golden.prompts.map(({ tokens }) => tokens)]);
  report.check(isEqual, 'token ids', `of ${texts.length} texts and ${asked.length} chat prompts`);
  const logits = new AllLogits(onnxRuntime(), createModel(checkpoint.config, checkpoint.weights));
  let largest = 0;
  for (const { tokens, logits: wanted } of golden.prompts) {
    const last = (await logits.of(tokens)).at(-1)!;
    const ours = wanted.map(([token]) => last[token]!);
    largest = Math.max(
      largest,
      largestDifference(
        ours,
        wanted.map(([, logit]) => logit),
      ),
    );
  }
  report.check(largest <= tolerance, 'logits', `largest difference ${largest.toExponential(1)}`);
  await using policy = await loadPolicy(folder);
  const greedy = await greedyTokens(policy, asked);
  const equal = golden.prompts.filter((prompt, index) => isDeepStrictEqual(prompt.greedy, greedy[index]));
  report.check(
    equal.length === asked.length,
    'greedy tokens',
    `${equal.length} of ${asked.length} answers equal`,
  );
}
