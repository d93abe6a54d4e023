/**
 * `npm run interop`: checks that transformers opens our checkpoints and computes the same logits, token ids and prompts.
 * `npm run interop -- trl` compares training with TRL, `npm run interop -- trackers` reports a run to experiment trackers,
 * `npm run interop -- openenv` plays with OpenEnv, TRL and verifiers, `npm run interop -- openai` plays and trains on llama.cpp's server,
 * `npm run interop -- vllm` does on vLLM's, `npm run interop -- tinker` samples and trains on SkyRL's, `npm run interop -- mcp` tries
 * MCP servers. `npm run interop -- mcp-conformance` runs MCP's official conformance suite, and needs no Python.
 * `npm run interop -- mcp-serve` drives `toolenv serve` with MCP's Python SDK and its Inspector.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createRng } from '@toolenv/core';
import { Chat, createModel, loadPolicy, onnxRuntime, readCheckpoint } from '@toolenv/policy';
import { AllLogits } from '../../packages/policy/test/all-logits.ts';
import { supervisedMetrics } from '../../packages/trainer-sft/src/supervised-loss.ts';
import { checkpointsToCheck, type Opened } from './checkpoints.ts';
import { checkConformance } from './mcp/check-conformance.ts';
import { checkMcp } from './mcp/check-mcp.ts';
import { checkServe } from './mcp/check-serve.ts';
import { checkOpenAi } from './openai/check-openai.ts';
import { checkVllm } from './openai/check-vllm.ts';
import { checkOpenEnv } from './openenv/check-openenv.ts';
import {
  pythonWithLlama,
  pythonWithMcp,
  pythonWithOpenEnv,
  pythonWithSkyRl,
  pythonWithTrackers,
  pythonWithTransformers,
  pythonWithVllm,
} from './python-environment.ts';
import { conversations, texts, toOpenAi } from './samples.ts';
import { checkTfjs } from './tfjs.ts';
import { checkTinker } from './tinker/check-tinker.ts';
import { checkTrackers } from './trackers.ts';
import { compareWithTrl } from './trl/compare.ts';

interface TransformersView {
  /** base64 of float32 [T, vocabulary] for each sequence. */
  logits: string[];
  ids: number[][];
  rendered: string[];
  rendered_ids: number[][];
  auto_tokenizer: { name: string; rendered_ids: number[][] };
  /** Of the examples, in one padded batch. */
  loss: number;
}

const tolerance = 1e-4;
/** Of the supervised loss, in nats per token. */
const lossTolerance = 1e-5;
const tally = { passed: 0, failed: 0 };

const what = process.argv[2];
const pythons: Record<string, () => string> = {
  trackers: pythonWithTrackers,
  openenv: pythonWithOpenEnv,
  openai: pythonWithLlama,
  vllm: pythonWithVllm,
  tinker: pythonWithSkyRl,
  'mcp-serve': pythonWithMcp,
  mcp: pythonWithMcp,
};
const python = what === 'mcp-conformance' ? '' : (pythons[what ?? ''] ?? pythonWithTransformers)();
if (what === 'trl') await compareWithTrl(python, process.argv.slice(3));
else {
  if (what === 'trackers') await checkTrackers(python, check);
  else if (what === 'openenv') await checkOpenEnv(python, check);
  else if (what === 'openai') await checkOpenAi(python, check);
  else if (what === 'vllm') await checkVllm(python, check);
  else if (what === 'mcp-conformance') await checkConformance(check);
  else if (what === 'mcp-serve') await checkServe(python, check);
  else if (what === 'tinker') await checkTinker(python, check);
  else if (what === 'mcp') await checkMcp(python, process.argv.slice(3), check);
  else await checkCheckpoints();
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exitCode = tally.failed === 0 ? 0 : 1;
}

async function checkCheckpoints(): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'toolenv-interop-'));
  try {
    for (const [title, opened] of await checkpointsToCheck(scratch)) await checkOpened(title, opened);
  } finally {
    await rm(scratch, { recursive: true });
  }
  await checkTfjs(python, check);
}

async function checkOpened(title: string, { folder, base }: Opened): Promise<void> {
  const checkpoint = await readCheckpoint(folder);
  const rng = createRng(1, 'sequences');
  const sequences = [1, 7, 40, 120].map((length) =>
    Array.from({ length }, () => rng.int(checkpoint.config.vocab_size)),
  );
  const supervised = await supervisedLoss(folder);
  const theirs = askTransformers({
    folder,
    base,
    sequences,
    texts,
    conversations: conversations.map(toOpenAi),
    examples: supervised.examples,
  });
  check(
    Math.abs(supervised.loss - theirs.loss) <= lossTolerance,
    `${title}: supervised loss of ${supervised.examples.length} examples`,
    `ours ${supervised.loss}, theirs ${theirs.loss}`,
  );

  const logits = new AllLogits(onnxRuntime(), createModel(checkpoint.config, checkpoint.weights));
  for (const [index, tokens] of sequences.entries()) {
    const ours = (await logits.of(tokens)).flatMap((row) => [...row]);
    const bytes = Buffer.from(theirs.logits[index]!, 'base64');
    const difference = largestDifference(
      ours,
      Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i)),
    );
    check(
      difference <= tolerance,
      `${title}: logits of ${tokens.length} tokens`,
      `they differ by ${difference}`,
    );
  }
  const chat = new Chat(checkpoint);
  for (const [index, text] of texts.entries()) {
    expectEqual(`${title}: ids of ${JSON.stringify(text)}`, [...chat.encode(text)], theirs.ids[index]);
  }
  for (const [index, conversation] of conversations.entries()) {
    const label = `${title}: conversation of ${conversation.messages.length} messages`;
    expectEqual(`${label}, rendered`, chat.render(conversation), theirs.rendered[index]);
    expectEqual(`${label}, ids`, [...chat.prompt(conversation)], theirs.rendered_ids[index]);
  }
  const { name, rendered_ids: automatic } = theirs.auto_tokenizer;
  if (!isDeepStrictEqual(automatic, theirs.rendered_ids)) {
    console.log(
      `note    ${title}: AutoTokenizer is a ${name} and gives other ids; PreTrainedTokenizerFast gives the right ids`,
    );
  }
}

/** Our loss of a batch of conversations and texts, and the batch as transformers takes it. */
async function supervisedLoss(
  folder: string,
): Promise<{ loss: number; examples: { tokens: number[]; labels: number[] }[] }> {
  await using policy = await loadPolicy(folder);
  const plain = texts
    .filter((text) => text !== '')
    .map((text) => ({ segments: [{ text, learn: true }], ends: true }));
  const rows = [...conversations, ...plain].flatMap((example) => policy.encode(example));
  const { loss } = supervisedMetrics(rows, await policy.learner.forward({ rows }));
  const examples = rows.map(({ tokens, mask }) => ({
    tokens: [...tokens],
    labels: Array.from(tokens, (token, t) => (mask[t] === 1 ? token : -100)),
  }));
  return { loss: loss!, examples };
}

function askTransformers(request: object): TransformersView {
  const script = join(import.meta.dirname, 'transformers_view.py');
  const { status, stdout } = spawnSync(python, [script], {
    input: JSON.stringify(request),
    stdio: ['pipe', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error('transformers could not open the checkpoint: see its message above.');
  return JSON.parse(stdout);
}

function expectEqual(title: string, ours: unknown, theirs: unknown): void {
  check(
    isDeepStrictEqual(ours, theirs),
    title,
    `ours ${JSON.stringify(ours)}, theirs ${JSON.stringify(theirs)}`,
  );
}

function check(passed: boolean, title: string, otherwise: string): void {
  tally[passed ? 'passed' : 'failed'] += 1;
  console.log(passed ? `ok      ${title}` : `FAILED  ${title}: ${otherwise}`);
}

/** Infinity for NaN or different lengths. */
function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i]! - b[i]!);
    if (!(difference <= largest)) largest = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
  }
  return largest;
}
