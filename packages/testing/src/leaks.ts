/** Timers, sockets, child processes and watchers that keep a process alive after the work is done. */
import { createHook } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds that closing handles may take to go away. */
const grace = 1000;

/** Types of resources, as async_hooks has them → what a report calls them. */
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
}

/**
 * What `work` makes and leaves behind (`2 × timer`), waiting a little for what is closing. What is unref'd does not count.
 * Run `work` once beforehand where it may make something that lasts as long as the process.
 *
 * By identity, and not by counting `process.getActiveResourcesInfo()`: a timer of a test runner that ends meanwhile would
 * hide one that is left.
 */
export async function leaksOf(work: () => Promise<void>): Promise<string[]> {
  // Made when first looked at, which importing `node:process` does: they are the process's own, and no leak of `work`.
  void [process.stdin, process.stdout, process.stderr];
  const made = new Map<number, { kind: string; resource: Resource }>();
  const hook = createHook({
    init(id, type, _, resource) {
      const kind = kinds[type];
      if (kind) made.set(id, { kind, resource: resource as Resource });
    },
    destroy: (id) => void made.delete(id),
  });
  hook.enable();
  try {
    await work();
    const ours = new Map(made);
    const left = () =>
      [...ours]
        .filter(([id, { resource }]) => made.has(id) && resource.hasRef?.() !== false)
        .map(([, { kind }]) => kind);
    for (let waited = 0; left().length > 0 && waited < grace; waited += 20) await sleep(20);
    return counted(left());
  } finally {
    hook.disable();
  }
}

/** Types of resources that reach out of the process, as async_hooks has them → what a report calls them. */
const outward: Readonly<Record<string, string>> = {
  TCPCONNECTWRAP: 'connection',
  GETADDRINFOREQWRAP: 'look-up of a name',
  UDPSENDWRAP: 'datagram',
};

/** What `work` does on the network (`1 × connection`). */
export async function networkUseOf(work: () => Promise<void>): Promise<string[]> {
  const used: string[] = [];
  const hook = createHook({
    init(_id, type) {
      const kind = outward[type];
      if (kind) used.push(kind);
    },
  });
  hook.enable();
  try {
    await work();
    return counted(used);
  } finally {
    hook.disable();
  }
}

function counted(names: readonly string[]): string[] {
  return [...new Set(names)].map((name) => `${names.filter((other) => other === name).length} × ${name}`);
}
