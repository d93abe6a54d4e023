/**
 * `npm run interop`: checks that transformers opens our checkpoints and computes the same logits, token ids and prompts,
 * and that TRL computes the same losses.
 * `npm run interop -- <part>` runs another part; CONTRIBUTING.md lists them.
 */
import { isDeepStrictEqual } from 'node:util';
import { createRng } from '@toolenv/core';
import { Chat, createModel, loadPolicy, onnxRuntime, readCheckpoint } from '@toolenv/policy';
import { AllLogits } from '../../packages/policy/test/all-logits.ts';
import { supervisedMetrics } from '../../packages/trainer-sft/src/supervised-loss.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { compareTemplates } from '../templates/compare.ts';
import { checkArchitectures } from './architectures.ts';
import { check, finish } from './check.ts';
import { checkpointsToCheck, type Opened } from './checkpoints.ts';
import { checkScores } from './datasets/check-scores.ts';
import { checkDaytona } from './daytona.ts';
import { checkGsm8k } from './gsm8k.ts';
import { reportHarbor } from './harbor.ts';
import { checkHarnesses } from './harnesses.ts';
import { checkHub } from './hub.ts';
import { checkConformance } from './mcp/check-conformance.ts';
import { checkServe } from './mcp/check-serve.ts';
import { checkServers } from './mcp/check-servers.ts';
import { checkTasks } from './mcp/check-tasks.ts';
import { checkNemoGym } from './nemo-gym/check-nemo-gym.ts';
import { checkOpenAi } from './openai/check-openai.ts';
import { checkVllm } from './openai/check-vllm.ts';
import { checkOpenEnv } from './openenv/check-openenv.ts';
import { checkOrs } from './ors/check-ors.ts';
import { checkPeft } from './peft.ts';
import { pythonWith } from './python-environment.ts';
import { conversations, texts, toOpenAi } from './samples.ts';
import { checkTfjs } from './tfjs.ts';
import { checkTinker } from './tinker/check-tinker.ts';
import { checkTrackers } from './trackers.ts';
import { askTransformers, floatsOf, largestDifference } from './transformers-view.ts';
import { compareWithTrl } from './trl/compare.ts';
import { compareLosses } from './trl/compare-losses.ts';
import { compareStep } from './trl/compare-step.ts';
import { checkVerifiers } from './verifiers/check-verifiers.ts';

const tolerance = 1e-4;
/** Of the supervised loss, in nats per token. */
const lossTolerance = 1e-5;

/** Part → its Python, and its checks. Without a part, checkpoints are compared with transformers, and losses with TRL. */
const parts: Record<
  string,
  [python: Parameters<typeof pythonWith>[0] | undefined, run: (python: string) => unknown]
> = {
  hub: ['hub', checkHub],
  trackers: ['trackers', checkTrackers],
  openenv: ['openenv', checkOpenEnv],
  ors: ['ors', checkOrs],
  openai: ['llama', checkOpenAi],
  vllm: ['vllm', checkVllm],
  tinker: ['skyrl', checkTinker],
  losses: ['transformers', compareLosses],
  peft: ['transformers', checkPeft],
  architectures: ['transformers', checkArchitectures],
  templates: ['transformers', (python) => compareTemplates(python, check)],
  datasets: [undefined, () => checkScores(process.env.TOOLENV_PYTHON ?? 'python3')],
  mcp: ['mcp', checkServers],
  'mcp-tasks': ['mcpTasks', checkTasks],
  'mcp-serve': ['mcp', checkServe],
  'mcp-conformance': [undefined, checkConformance],
  daytona: [undefined, checkDaytona],
  gsm8k: [undefined, () => checkGsm8k(process.argv[3] ?? 'data')],
  harnesses: [undefined, () => checkHarnesses(process.argv[3] ?? '.', check)],
  'nemo-gym': ['nemoGym', checkNemoGym],
  verifiers: ['verifiers', (python) => checkVerifiers(python, process.argv[3] ?? 'environments')],
  harbor: [undefined, () => reportHarbor(process.argv[3] ?? 'examples/harbor', check)],
  'trl-step': ['transformers', compareStep],
  // Measures, and prints the comparison itself.
  trl: ['transformers', (python) => compareWithTrl(python, process.argv.slice(3))],
};
const name = process.argv[2];
const part = name === undefined ? undefined : parts[name];
if (name !== undefined && !part) {
  console.error(`No part "${name}": one of ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}
const [python, runPart] = part ?? ['transformers' as const, checkCheckpoints];
await runPart(python === undefined ? '' : pythonWith(python));
if (name !== 'trl') finish();

async function checkCheckpoints(python: string): Promise<void> {
  await using scratch = await scratchFolder();
  for (const [title, opened] of await checkpointsToCheck(scratch.path))
    await checkOpened(python, title, opened);
  await checkArchitectures(python);
  await checkPeft(python);
  await compareLosses(python);
  await checkTfjs(python);
}

async function checkOpened(python: string, title: string, { folder, base }: Opened): Promise<void> {
  const checkpoint = await readCheckpoint(folder);
  const rng = createRng(1, 'sequences');
  const sequences = [1, 7, 40, 120].map((length) =>
    Array.from({ length }, () => rng.int(checkpoint.config.vocab_size)),
  );
  const supervised = await supervisedLoss(folder);
  const theirs = await askTransformers(python, {
    folder,
    base,
    sequences,
    texts,
    conversations: conversations.map(toOpenAi),
    examples: supervised.examples,
  });
  check(
    Math.abs(supervised.loss - theirs.loss!) <= lossTolerance,
    `${title}: supervised loss of ${supervised.examples.length} examples`,
    `ours ${supervised.loss}, theirs ${theirs.loss}`,
  );

  const logits = new AllLogits(onnxRuntime(), createModel(checkpoint.config, checkpoint.weights));
  for (const [index, tokens] of sequences.entries()) {
    const ours = (await logits.of(tokens)).flatMap((row) => [...row]);
    const difference = largestDifference(ours, floatsOf(theirs.logits[index]!));
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

function expectEqual(title: string, ours: unknown, theirs: unknown): void {
  check(
    isDeepStrictEqual(ours, theirs),
    title,
    `ours ${JSON.stringify(ours)}, theirs ${JSON.stringify(theirs)}`,
  );
}
