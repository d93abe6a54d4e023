/** Finds timers, sockets, child processes and watchers that keep a process alive after the work is done. */
import { type AsyncHook, AsyncLocalStorage, createHook } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RuleId } from './rules.ts';
import { Violation } from './violation.ts';

/** Milliseconds that handles may take to close. */
const grace = 1000;

/** Resource type of async_hooks → its name in a report. */
const kinds: Readonly<Record<string, string>> = {
  Timeout: 'timer',
  TCPWRAP: 'socket',
  TCPSERVERWRAP: 'server',
  PIPEWRAP: 'pipe',
  PIPESERVERWRAP: 'pipe server',
  UDPWRAP: 'UDP socket',
  PROCESSWRAP: 'child process',
  FSEVENTWRAP: 'file watcher',
  STATWATCHER: 'file watcher',
};

interface Resource {
  hasRef?(): boolean;
  /** Of a kept connection that is used again, of which Node reports a new resource around the old handle. */
  handle?: Resource;
}

interface Handle {
  kind: string;
  resource: Resource;
  /** Whether it was opened by work that {@link Handles.run} runs. */
  isOurs: boolean;
}

/** Whether it keeps the process alive. */
function holds({ resource }: Handle): boolean {
  return (resource.handle ?? resource).hasRef?.() !== false;
}

/**
 * What `work` opens and leaves behind (`2 × timer`), after a short wait for closing handles. Unref'd handles do not count.
 * Run `work` once beforehand if it may open something that lasts as long as the process.
 *
 * Tracks each resource instead of counting `process.getActiveResourcesInfo()`: a test runner's own timer that ends
 * meanwhile would hide a leaked timer.
 */
export async function leaksOf(work: () => Promise<void>): Promise<string[]> {
  const handles = new Handles();
  try {
    await work();
    const left = handles.snapshot();
    for (let waited = 0; left().length > 0 && waited < grace; waited += 20) await sleep(20);
    return counted(left());
  } finally {
    handles.stop();
  }
}

/** @throws Violation if the work leaves something behind, as {@link leaksOf} says. `what` follows "no timer or handle". */
export async function expectNoLeaks(rule: RuleId, what: string, work: () => Promise<void>): Promise<void> {
  const left = await leaksOf(work);
  if (left.length > 0) throw new Violation(rule, `no timer or handle ${what}`, left.join(', '));
}

/** Handles that are opened from now on. Call `stop`. */
export class Handles {
  readonly #made: Map<number, Handle> = new Map();
  readonly #hook: AsyncHook;
  readonly #context: AsyncLocalStorage<true> = new AsyncLocalStorage();

  constructor() {
    // The streams are created on first access, which importing `node:process` causes. They are not leaks of any work.
    void [process.stdin, process.stdout, process.stderr];
    this.#hook = createHook({
      init: (id, type, _, resource) => {
        const kind = kinds[type];
        const isOurs = this.#context.getStore() === true;
        if (kind) this.#made.set(id, { kind, resource: resource as Resource, isOurs });
      },
      destroy: (id) => void this.#made.delete(id),
    });
    this.#hook.enable();
  }

  /** Tells the kinds of the handles opened before this call that are still open. */
  snapshot(): () => string[] {
    const ours = new Map(this.#made);
    return () =>
      [...ours].filter(([id, handle]) => this.#made.has(id) && holds(handle)).map(([, { kind }]) => kind);
  }

  /** Runs `work`, whose handles {@link Handles.isBusy} looks for. */
  run<T>(work: () => T): T {
    return this.#context.run(true, work);
  }

  /** Whether a handle is open that `run` has opened, or what it left behind. */
  isBusy(): boolean {
    return [...this.#made.values()].some((handle) => handle.isOurs && holds(handle));
  }

  stop(): void {
    this.#hook.disable();
    // Until then, Node 20 to 22 track every promise of the process.
    this.#context.disable();
  }
}

/** Resource type of async_hooks that uses the network → its name in a report. */
const outward: Readonly<Record<string, string>> = {
  TCPCONNECTWRAP: 'connection',
  GETADDRINFOREQWRAP: 'DNS lookup',
  UDPSENDWRAP: 'datagram',
};

/** Where fetch and node:http announce requests. Held, because Node 20 loses a channel whose namesake was collected as garbage. */
const requests = [channel('undici:request:create'), channel('http.client.request.start')] as const;

/** How `work` uses the network (`1 × connection`). */
export async function networkUseOf(work: () => Promise<void>): Promise<string[]> {
  const used: string[] = [];
  const hook = createHook({
    init(_id, type) {
      const kind = outward[type];
      if (kind) used.push(kind);
    },
  });
  // A request over a socket that was kept alive makes no resource.
  const request = () => void used.push('HTTP request');
  for (const each of requests) each.subscribe(request);
  hook.enable();
  try {
    await work();
    return counted(used);
  } finally {
    hook.disable();
    for (const each of requests) each.unsubscribe(request);
  }
}

function counted(names: readonly string[]): string[] {
  return [...new Set(names)].map((name) => `${names.filter((other) => other === name).length} × ${name}`);
}
