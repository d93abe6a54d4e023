/** An attack: what a third party does, and what must happen. */

export interface Attack {
  name: string;
  /** What the third party does. */
  attack: string;
  /** What must happen, also the words of the report when it does. */
  expected: string;
  /** Whether it takes too long for --quick. */
  slow?: boolean;
  /** Whether it takes memory on purpose, which would hide what a later attack of the same process takes. */
  alone?: boolean;
  /**
   * Does it. Throws if anything else happens than what must, for example by {@link holds}.
   * @param folder Empty, for whatever the attack writes.
   */
  run(folder: string): Promise<void>;
}

/** @throws Error that says what happened instead. */
export function holds(condition: unknown, instead: string): asserts condition {
  if (!condition) throw new Error(instead);
}

/** @throws Error if the work takes longer than `limit` milliseconds. */
export async function within<T>(limit: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end within ${limit} ms`)), limit);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** What the work throws. @throws Error if it throws nothing. */
export async function thrown(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('was accepted');
}
