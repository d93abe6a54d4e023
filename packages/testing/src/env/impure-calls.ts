/** Watches Math.random and the clock of Date while episodes run: what they give differs each time, and no seed decides it. */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Watch {
  found: Set<string>;
  folder: string | undefined;
}

/** Calls count for the check whose work they are part of, so that checks may run at once. */
const watches = new AsyncLocalStorage<Watch>();
let running = 0;
let restore = (): void => {};

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
  if (running === 0) restore = replaceGlobals();
  running += 1;
  try {
    await watches.run({ found, folder }, work);
  } finally {
    running -= 1;
    if (running === 0) {
      restore();
      // Until then, Node 20 to 22 track every promise of the process.
      watches.disable();
    }
  }
}

/** @returns Puts the globals back. */
function replaceGlobals(): () => void {
  const { random } = Math;
  const { Date: RealDate } = globalThis;
  const { now } = RealDate;
  Math.random = () => {
    note('Math.random()');
    return random();
  };
  RealDate.now = () => {
    note('Date.now()');
    return now();
  };
  const WatchedDate: DateConstructor = new Proxy(RealDate, {
    construct(_, args, target) {
      if (args.length === 0) note('new Date()');
      return Reflect.construct(RealDate, args, target === WatchedDate ? RealDate : target);
    },
    apply() {
      note('Date()');
      return RealDate();
    },
  });
  const useDate = (date: DateConstructor) => {
    globalThis.Date = date;
    // Programs compare it with Date.
    RealDate.prototype.constructor = date;
  };
  useDate(WatchedDate);
  return () => {
    Math.random = random;
    RealDate.now = now;
    useDate(RealDate);
  };
}

function note(name: string): void {
  const watch = watches.getStore();
  const place = watch && caller(watch.folder);
  if (place) watch.found.add(`${name} in ${place}`);
}

/** The file and line of the caller of the watched function, unless it is another's code. */
function caller(folder: string | undefined): string | undefined {
  const lines = new Error('for its stack').stack?.split('\n').slice(4) ?? [];
  for (const line of lines) {
    const place = /\(?((?:node:|file:\/\/|\/|[A-Za-z]:\\)[^()]*):\d+\)?$/.exec(line)?.[1];
    if (place === undefined) continue;
    const own = folder !== undefined && place.includes(folder) ? place.split(folder).at(-1)! : place;
    return place.startsWith('node:') || /[\\/]node_modules[\\/]/.test(own) ? undefined : place;
  }
  return undefined;
}
