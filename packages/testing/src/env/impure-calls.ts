/** Watches Math.random and Date.now while episodes run: what they give differs each time, and no seed decides it. */

const watched = [
  [Math, 'random', 'Math.random()'],
  [Date, 'now', 'Date.now()'],
] as const;

/**
 * Runs `work`, and adds to `found` where the environment calls one of them: `Math.random() in /my-env/src/deal.ts:12`. Calls of Node and of
 * packages that it depends on do not count: they may number their requests so.
 * @param folder Of the package that the environment is in, which may itself be in node_modules.
 */
export async function watchImpureCalls(
  work: () => Promise<void>,
  found: Set<string>,
  folder?: string,
): Promise<void> {
  const restores = watched.map(([owner, method, name]) => {
    const methods = owner as unknown as Record<string, () => number>;
    const original = methods[method]!;
    methods[method] = () => {
      const place = caller(folder);
      if (place) found.add(`${name} in ${place}`);
      return original.call(owner);
    };
    return () => {
      methods[method] = original;
    };
  });
  try {
    await work();
  } finally {
    for (const restore of restores) restore();
  }
}

/** The file and line of the caller of the watched function, unless it is another's code. */
function caller(folder: string | undefined): string | undefined {
  const lines = new Error('for its stack').stack?.split('\n').slice(3) ?? [];
  for (const line of lines) {
    const place = /\(?((?:node:|file:\/\/|\/|[A-Za-z]:\\)[^()]*):\d+\)?$/.exec(line)?.[1];
    if (place === undefined) continue;
    const own = folder !== undefined && place.includes(folder) ? place.split(folder).at(-1)! : place;
    return place.startsWith('node:') || /[\\/]node_modules[\\/]/.test(own) ? undefined : place;
  }
  return undefined;
}
