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
  const holders = new Map<string, number[]>();
  rare.forEach((words, index) => {
    for (const word of new Set(words)) holders.set(word, [...(holders.get(word) ?? []), index]);
  });
  return tested.flatMap((words, index): NearDuplicate[] => {
    const same = places.get(words.join(' '));
    if (same !== undefined) return [{ test: index, train: same }];
    if (words.length < enough) return [];
    // The rarest first. The words of the template alone say nothing.
    const own = words.filter(isRare).sort((a, b) => (usage.get(a) ?? 0) - (usage.get(b) ?? 0));
    if (own.length < 3) return [];
    // Whoever shares nine in ten of these words shares one of any tenth and one more (Chaudhuri et al. 2006, prefix filter).
    const prefix = own.slice(0, own.length - Math.ceil(closest * own.length) + 1);
    const candidates = new Set(prefix.flatMap((word) => holders.get(word) ?? []));
    const [ownCounts, counts] = [countsOf(own), countsOf(words)];
    const near = [...candidates].find(
      (at) => areClose(ownCounts, own.length, rare[at]!) && areClose(counts, words.length, trained[at]!),
    );
    return near === undefined ? [] : [{ test: index, train: near }];
  });
}

/** How often each word occurs. */
function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Whether `words`, as counted in `counts`, and `others` share enough. Ends as soon as too many of the others are not shared. */
function areClose(counts: ReadonlyMap<string, number>, words: number, others: readonly string[]): boolean {
  // A Jaccard index J of sets of a and b words means that J / (1 + J) of a + b are shared.
  const needed = Math.ceil((closest / (1 + closest)) * (words + others.length) - tolerance);
  let missable = others.length - needed;
  if (words < needed || missable < 0) return false;
  const used = new Map<string, number>();
  for (const word of others) {
    const before = used.get(word) ?? 0;
    if (before < (counts.get(word) ?? 0)) used.set(word, before + 1);
    else if (missable-- === 0) return false;
  }
  return true;
}

const tolerance = 1e-9;
