/** Gradient norms of the learner on SkyRL's server, compared with those of the server's own loss and of the local learner. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createRng } from '@toolenv/core';
import type { Rows, TokenRow } from '@toolenv/core/learner';
import { loadPolicy } from '@toolenv/policy';
import { checkLearner } from '@toolenv/testing';
import { policyLoss } from '@toolenv/training';
import { Connection } from '../../../packages/tinker/src/connection.ts';
import type { Datum } from '../../../packages/tinker/src/messages.ts';
import { type Normalisation, probeNormalisation } from '../../../packages/tinker/src/normalisation.ts';
import { RemoteModel } from '../../../packages/tinker/src/remote-model.ts';
import { Session } from '../../../packages/tinker/src/session.ts';
import { SharedModel } from '../../../packages/tinker/src/shared-model.ts';
import { TinkerLearner } from '../../../packages/tinker/src/tinker-learner.ts';
import { check } from '../check.ts';
import { mustRun } from '../programs.ts';
import type { SkyRlServer } from './skyrl-server.ts';

const shape = { rank: 8, seed: 1 };
/** The server's adapters have this alpha, whatever the rank. */
const alpha = 32;
const vocabulary = 850;
const still = { learningRate: 0 };
const step = { learningRate: 1e-2 };

/** What a loss reads of a batch, [B][T]. */
interface Batch {
  rows: TokenRow[];
  oldLogprobs: Rows;
  advantages: Rows;
}

type Server = Pick<SkyRlServer, 'url' | 'model' | 'checkpoints'>;

/** A learner on a server, and a batch for it. */
interface Lesson {
  learner: TinkerLearner;
  shared: SharedModel;
  normalisation: Normalisation;
  batch: Batch;
}

/** @param scratch A folder for checkpoints. */
export async function checkNorms(python: string, server: Server, scratch: string): Promise<void> {
  await withLesson(server, async (lesson) => {
    const { learner, shared, batch, normalisation } = lesson;
    check(normalisation === 'mean', 'SkyRL on JAX: the probe finds means over rows', normalisation);
    await checkLocal(python, server, lesson, { title: 'a fresh adapter', folder: join(scratch, 'fresh') });
    await takeStep(lesson);
    await checkNative(learner, shared, batch);
    await checkResume(learner, batch, join(scratch, 'resumed'));
    const { ok, findings } = await checkLearner(learner, { vocabulary, timeout: 600_000 });
    check(ok, 'SkyRL: the learner conforms', JSON.stringify(findings));
  });
}

/**
 * @param server Its model has an adapter for each layer, as the local learner has. SkyRL's Qwen3 shares one A between q, k and v, and
 *   one between gate and up: its norms differ as soon as A has a gradient.
 */
export async function checkTrainedAdapter(python: string, server: Server, scratch: string): Promise<void> {
  await withLesson(server, async (lesson) => {
    // An adapter whose B is 0 has no gradient in A.
    await takeStep(lesson);
    await checkLocal(python, server, lesson, {
      title: 'a trained adapter',
      folder: join(scratch, 'trained'),
    });
  });
}

async function withLesson(
  { url }: Pick<SkyRlServer, 'url'>,
  teach: (lesson: Lesson) => Promise<void>,
): Promise<void> {
  const session = await Session.open(new Connection({ url }), undefined);
  const normalisation = await probeNormalisation(session, shape);
  const shared = new SharedModel(await RemoteModel.create(session, shape));
  const learner = new TinkerLearner({ session, shape, shared, normalisation, clipsAt: 0 });
  try {
    await teach({ learner, shared, normalisation, batch: await makeBatch(learner) });
  } finally {
    await learner.close();
    session.close();
  }
}

async function takeStep({ learner, batch }: Lesson): Promise<void> {
  await learner.backward(batch, { dLogprobs: await slopesOf(learner, batch, 'grpo') });
  await learner.step(step);
}

/** Rows of one length of the server's programs, which are padded to powers of two. */
async function makeBatch(learner: TinkerLearner): Promise<Batch> {
  const rng = createRng(1, 'batch');
  const rows = [24, 18, 30, 20].map((length) => ({
    tokens: Int32Array.from({ length }, () => 1 + rng.int(vocabulary)),
    mask: Uint8Array.from({ length }, (_, t) => (t >= 5 && t % 7 !== 0 ? 1 : 0)),
  }));
  const { logprobs } = await learner.forward({ rows });
  return {
    rows,
    oldLogprobs: logprobs.map((row) => row.map((logprob) => logprob + 0.6 * (rng.float() - 0.5))),
    advantages: logprobs.map((row) => row.map(() => 2 * rng.float() - 1)),
  };
}

async function slopesOf(
  learner: Pick<TinkerLearner, 'forward'>,
  { rows, oldLogprobs, advantages }: Batch,
  loss: string,
): Promise<Rows> {
  const { logprobs } = await learner.forward({ rows });
  const mask = rows.map((row) => row.mask);
  return policyLoss({ logprobs, oldLogprobs, advantages, mask }, { loss, clip: [0.2, 0.2] }).dLogprobs;
}

async function checkNative(learner: TinkerLearner, shared: SharedModel, batch: Batch): Promise<void> {
  const data = batch.rows.map(({ tokens, mask }, b): Datum => {
    const targets = (values: ArrayLike<number>) => Float32Array.from(values).subarray(1);
    const inputs = {
      weights: targets(mask),
      logprobs: targets(batch.oldLogprobs[b]!),
      advantages: targets(batch.advantages[b]!),
    };
    return { tokens: tokens.subarray(0, -1), targets: tokens.subarray(1), inputs };
  });
  await shared.model.accumulate(data, 'ppo', { clip_low_threshold: 0.8, clip_high_threshold: 1.2 });
  const native = await shared.model.step(still);
  await learner.backward(batch, { dLogprobs: await slopesOf(learner, batch, 'grpo') });
  const { gradNorm } = await learner.step(still);
  compare('PPO: our gradient norm is that of the server’s own loss', native, gradNorm, 1e-6);

  const slopes = await slopesOf(learner, batch, 'grpo');
  for (const [b, row] of batch.rows.entries()) {
    await learner.backward({ rows: [row] }, { dLogprobs: [slopes[b]!] });
  }
  const parts = await learner.step(still);
  compare('PPO: the same in four backward passes', native, parts.gradNorm, 1e-6);
}

async function checkLocal(
  python: string,
  { model, checkpoints }: Server,
  { learner, shared, batch }: Lesson,
  { title, folder: where }: { title: string; folder: string },
): Promise<void> {
  await using local = await loadPolicy(model, { learner: { lora: { rank: shape.rank, alpha } } });
  const folder = join(where, 'adapter-of-the-server');
  await mkdir(folder, { recursive: true });
  await local.learner.save(folder);
  await shared.sample(async () => {});
  const published = join(checkpoints, shared.model.id, 'sampler_weights');
  const names = await readdir(published);
  const archives = names.filter((name) => name.endsWith('.tar.gz')).sort();
  const archive = join(published, archives.at(-1)!);
  mustRun(python, join(import.meta.dirname, 'merge_adapter.py'), archive, folder);
  await local.learner.load(folder);

  const [ours, theirs] = [await local.learner.forward(batch), await learner.forward(batch)];
  const differences = ours.logprobs.flatMap((row, b) =>
    Array.from(row, (logprob, t) => Math.abs(logprob - theirs.logprobs[b]![t]!)),
  );
  const largest = Math.max(...differences);
  check(
    largest < 1e-4,
    `SkyRL: log-probabilities are the local learner’s, within ${largest.toExponential(1)}`,
    String(largest),
  );
  for (const [name, loss] of [
    ['GRPO', 'grpo'],
    ['CISPO', 'cispo'],
    ['PPO', 'bnpo'],
  ] as const) {
    const norms: number[] = [];
    for (const each of [local.learner, learner]) {
      await each.backward(batch, { dLogprobs: await slopesOf(learner, batch, loss) });
      norms.push((await each.step(still)).gradNorm);
    }
    compare(`${name} on ${title}: the gradient norm is the local learner’s`, norms[0]!, norms[1]!, 1e-4);
  }
}

/** Two further steps, so that the second shows the optimizer's state. */
async function checkResume(learner: TinkerLearner, batch: Batch, folder: string): Promise<void> {
  const advance = async () => {
    const norms: number[] = [];
    for (let n = 0; n < 2; n++) {
      await learner.backward(batch, { dLogprobs: await slopesOf(learner, batch, 'grpo') });
      norms.push((await learner.step(step)).gradNorm);
    }
    return norms.join(' and ');
  };
  await mkdir(folder, { recursive: true });
  await learner.save(folder);
  const first = await advance();
  await learner.load(folder);
  const again = await advance();
  check(first === again, `SkyRL: after load the next norms are bit for bit ${first}`, again);
}

function compare(title: string, expected: number, received: number, tolerance: number): void {
  const difference = Math.abs(expected - received) / expected;
  check(
    difference <= tolerance,
    `SkyRL, ${title}, ${expected}, within ${difference.toExponential(1)}`,
    `${expected} and ${received}`,
  );
}
