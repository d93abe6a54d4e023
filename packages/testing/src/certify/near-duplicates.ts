/** Looks for test tasks that are training tasks with another spelling, another order or another number of their own. */

/** Leaf values of a task as words, without the names and numbers that only identify it. */
function wordsOf(task: unknown): string[] {
  return leaves(task).flatMap(
    (text) =>
      text
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [],
  );
}

const identity = /^(?:_?id|uuid|index|seed|number|split|source|name|key)$/i;

function leaves(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, part]) => (identity.test(key) ? [] : leaves(part)));
}

/** How much of their words two tasks may share: the Jaccard index of the multisets. */
const closest = 0.9;
/** Words of a task below which only equal words in equal order count: short tasks of one template share most of theirs. */
const enough = 12;
/** A word of more tasks than this share belongs to the template. */
const common = 0.2;

/** The first test task that is near to each of these training tasks. */
export interface NearDuplicate {
  test: number;
  train: number;
}

export function nearDuplicates(train: readonly unknown[], test: readonly unknown[]): NearDuplicate[] {
  const [trained, tested] = [train.map(wordsOf), test.map(wordsOf)];
  const places = new Map<string, number>();
  trained.forEach((words, index) => {
    if (words.length > 0) places.set(words.join(' '), index);
  });
  const usage = new Map<string, number>();
  for (const words of trained) for (const word of new Set(words)) usage.set(word, (usage.get(word) ?? 0) + 1);
  const isRare = (word: string) => (usage.get(word) ?? 0) <= Math.max(1, common * trained.length);
  const rare = trained.map((words) => words.filter(isRare));
  return tested.flatMap((words, index): NearDuplicate[] => {
    const same = places.get(words.join(' '));
    if (same !== undefined) return [{ test: index, train: same }];
    if (words.length < enough) return [];
    const own = words.filter(isRare);
    // The words of the template alone say nothing.
    if (own.length < 3) return [];
    const near = trained.findIndex(
      (others, at) => overlap(own, rare[at]!) >= closest && overlap(words, others) >= closest,
    );
    return near < 0 ? [] : [{ test: index, train: near }];
  });
}

function overlap(a: readonly string[], b: readonly string[]): number {
  // Most pairs end here.
  if (Math.min(a.length, b.length) < closest * Math.max(a.length, b.length)) return 0;
  const left = new Map<string, number>();
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of b) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared += 1;
  }
  return shared / (a.length + b.length - shared);
}
