/** `npm run bench -- draw`: one truncated draw from a real model's vocabulary. The peer is transformers' logits processors. */
import { createRng } from '@toolenv/core';
import { type Drawing, drawToken } from '@toolenv/policy';
import { busyShare, warnIfBusy } from './machine.ts';
import { median } from './median.ts';
import { startPeer } from './peer.ts';
import { findPython } from './python.ts';

/** The vocabulary size of Qwen's models. */
const vocabulary = 151_936;

const truncations: Record<string, Omit<Drawing, 'temperature'>> = {
  'top-k 20': { topK: 20 },
  'top-k 1000': { topK: 1000 },
  'top-p .5': { topP: 0.5 },
  'top-p .999': { topP: 0.999 },
  'min-p .05': { minP: 0.05 },
  // Qwen's own settings.
  'top-k 20, top-p .8': { topK: 20, topP: 0.8 },
  all: { topK: 1000, topP: 0.999, minP: 0.001 },
};

/** The standard deviation of the logits. */
const spreads = { peaked: 6, flat: 0.3, uniform: 0 };

interface Case {
  name: string;
  drawing: Drawing;
  spread: number;
}

/** Milliseconds of a draw on one thread: medians over the rounds, measured in turns. */
export async function measureDraw(_choice: unknown, rounds: number): Promise<Record<string, unknown>> {
  const cases: Case[] = Object.entries(spreads).flatMap(([shape, spread]) =>
    Object.entries(truncations).map(([name, truncation]) => {
      return { name: `${shape}, ${name}`, drawing: { temperature: 0.7, ...truncation }, spread };
    }),
  );
  const python = findPython(['torch', 'transformers']);
  if (!python) console.error('No Python with torch and transformers found: only this library is measured.');
  const shape = { vocabulary, cases: JSON.stringify(cases) };
  const peer =
    python === undefined
      ? undefined
      : await startPeer(python, { peerScript: 'draw.py', shape }, { threads: 1, device: 'cpu' });
  const busy = await busyShare();
  const empty = () => Object.fromEntries(cases.map(({ name }): [string, number[]] => [name, []]));
  const [ours, theirs] = [empty(), empty()];
  const distributions = new Map(Object.values(spreads).map((spread) => [spread, distribution(spread)]));
  const rng = createRng(1, 'draws');
  for (let round = 0; round < rounds; round++) {
    for (const { name, drawing, spread } of cases) {
      const start = performance.now();
      drawToken(distributions.get(spread)!, drawing, rng);
      ours[name]!.push(performance.now() - start);
      if (peer) theirs[name]!.push(1000 * (await peer.round()).seconds);
    }
  }
  await peer?.close();
  warnIfBusy(busy);
  return {
    name: 'draw',
    ours: medians(ours),
    peer: peer ? medians(theirs) : null,
    worst: Math.max(...Object.values(medians(ours))),
    unit: 'ms/draw',
    shape: { vocabulary, rounds },
    otherWork: Number(busy.toFixed(2)),
    versions: { node: process.version, ...peer?.versions },
  };
}

function medians(times: Record<string, number[]>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(times).map(([name, each]) => [name, Number(median(each).toFixed(2))]),
  );
}

/** The softmax of normally distributed logits. */
function distribution(spread: number): Float32Array {
  const rng = createRng(1, 'logits');
  const weights = Float64Array.from({ length: vocabulary }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - rng.float())) * Math.cos(2 * Math.PI * rng.float());
    return Math.exp(spread * normal);
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Float32Array.from(weights, (weight) => weight / total);
}
