/**
 * Attention in prefix trees. A tree is made of chains: runs of tokens without a branch. Tokens attend causally within their chain, and as a
 * whole to each chain above it, so that no score is computed only to be masked. The parts are joined by the logarithms of their sums, as in
 * ring attention (arXiv 2310.01889).
 */
import type { AttentionInputs, Kernels } from './kernels.ts';
import type { TorchTensor } from './torch-tensor.ts';

interface Range {
  start: number;
  count: number;
}

/** Queries of a tree that attend to the keys of a chain: causally to their own, or as a whole to one above. */
interface Part {
  tree: number;
  queries: Range;
  keys: Range;
}

/** Chains shorter than this, on average, cost more in calls than masks do in scores. */
const leastChain = 12;

/**
 * @param ends [B, T]: the place after the last descendant of each token. Padding comes after a tree, and attends to anything before it.
 * @returns All parts within chains before the others. `undefined` if there are too many.
 */
export function treeParts(ends: ArrayLike<number>, trees: number): Part[] | undefined {
  const time = ends.length / trees;
  const [own, above]: [Part[], Part[]] = [[], []];
  for (let tree = 0; tree < trees; tree++) {
    const endOf = (at: number) => ends[tree * time + at]!;
    const size = endOf(0);
    for (let start = 0; start < size; ) {
      let last = start;
      while (last + 1 < endOf(last) && endOf(last + 1) === endOf(last)) last += 1;
      const chain = { start, count: last + 1 - start };
      own.push({ tree, queries: chain, keys: chain });
      const below = { start: last + 1, count: endOf(last) - last - 1 };
      if (below.count > 0) above.push({ tree, queries: below, keys: chain });
      start = last + 1;
    }
    const padding = { start: size, count: time - size };
    if (padding.count > 0) own.push({ tree, queries: padding, keys: padding });
  }
  return own.length * leastChain > trees * time ? undefined : [...own, ...above];
}

/** The parts of trees, or a mask [B, 1, T, T] where there would be too many. */
export type Trees = readonly Part[] | TorchTensor;

/** @param ends float32 [B, T], as {@link treeParts} has them. The caller owns a mask. */
export function treesOf(k: Kernels, ends: TorchTensor): Trees {
  const [trees, time] = ends.shape as [number, number];
  const values = k.read(ends);
  const parts = treeParts(values, trees);
  if (parts) return parts;
  const mask = new Float32Array(trees * time * time).fill(Number.NEGATIVE_INFINITY);
  for (let key = 0; key < trees * time; key++) {
    const tree = Math.floor(key / time);
    for (let query = key % time; query < values[key]!; query++)
      mask[(tree * time + query) * time + (key % time)] = 0;
  }
  return k.outside(() => k.of(mask, [trees, 1, time, time]));
}

/** The outputs [B, H, T, D], in the precision of the queries, and the logarithms of the sums [B, H, T]. */
export function treeAttention(
  k: Kernels,
  inputs: AttentionInputs,
  parts: readonly Part[],
  scale: number,
): readonly [outputs: TorchTensor, logs: TorchTensor] {
  return k.tidy(() => {
    const [queries] = inputs;
    const outputs = k.empty(queries.shape);
    const logs = k.empty(queries.shape.slice(0, -1));
    for (const part of parts) {
      const isOwn = part.queries === part.keys;
      k.tidy(() => {
        const [mixed, sums] = k.attention(cut(k, inputs, part), isOwn ? 'causal' : 'whole', scale);
        const [before, sumsBefore] = [outputs, logs].map((x) => cutOne(k, x, part.tree, part.queries)) as [
          TorchTensor,
          TorchTensor,
        ];
        if (isOwn) {
          k.copy(before, mixed);
          k.copy(sumsBefore, sums);
          return [];
        }
        // Each part counts by its share of the sum of exponentials. log(eᵃ + eᵇ) = a − log σ(a − b).
        const share = k.unary('sigmoid', k.add(sums, sumsBefore, -1));
        const rest = k.unary('sigmoid', k.add(sumsBefore, sums, -1));
        const wide = k.reshape(share, [...share.shape, 1]);
        const moved = k.add(before, k.mul(k.add(k.cast(mixed, 'float32'), before, -1), wide));
        const joined = k.add(sumsBefore, k.unary('log', rest), -1);
        k.copy(before, moved);
        k.copy(sumsBefore, joined);
        return [];
      });
    }
    return [queries.type === 'float32' ? outputs : k.cast(outputs, queries.type), logs] as const;
  });
}

/** The gradients of queries, keys and values: with the outputs and the sums of all parts, those of the parts add up. */
export function treeAttentionGradients(
  k: Kernels,
  g: TorchTensor,
  inputs: AttentionInputs,
  [outputs, logs]: readonly [TorchTensor, TorchTensor],
  parts: readonly Part[],
  scale: number,
): TorchTensor[] {
  return k.tidy(() => {
    const totals = inputs.map(({ shape, type }) => k.empty(shape, type));
    for (const part of parts) {
      const isOwn = part.queries === part.keys;
      k.tidy(() => {
        const [down, mixed, sums] = [g, outputs, logs].map((x) => cutOne(k, x, part.tree, part.queries)) as [
          TorchTensor,
          TorchTensor,
          TorchTensor,
        ];
        const kind = isOwn ? 'causal' : 'whole';
        const found = k.attentionGradients(down, cut(k, inputs, part), [mixed, sums], kind, scale);
        for (const [index, gradient] of found.entries()) {
          const range = index === 0 ? part.queries : part.keys;
          const total = cutOne(k, totals[index]!, part.tree, range);
          k.copy(total, isOwn ? gradient : k.add(total, gradient));
        }
        return [];
      });
    }
    return totals;
  });
}

function cut(k: Kernels, [queries, keys, values]: AttentionInputs, part: Part): AttentionInputs {
  return [
    cutOne(k, queries, part.tree, part.queries),
    cutOne(k, keys, part.tree, part.keys),
    cutOne(k, values, part.tree, part.keys),
  ];
}

/** A view of a range of the third axis, of a tree. */
function cutOne(k: Kernels, x: TorchTensor, tree: number, { start, count }: Range): TorchTensor {
  return k.narrow(k.narrow(x, 0, tree, 1), 2, start, count);
}
