/** Finds timers, sockets, child processes and watchers that keep a process alive after the work is done. */
import { createHook } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';

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

/**
 * What `work` opens and leaves behind (`2 × timer`), after a short wait for closing handles. Unref'd handles do not count.
 * Run `work` once beforehand if it may open something that lasts as long as the process.
 *
 * Tracks each resource instead of counting `process.getActiveResourcesInfo()`: a test runner's own timer that ends
 * meanwhile would hide a leaked timer.
 */
export async function leaksOf(work: () => Promise<void>): Promise<string[]> {
  // The streams are created on first access, which importing `node:process` causes. They are not leaks of `work`.
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
        .filter(([id, { resource }]) => made.has(id) && (resource.handle ?? resource).hasRef?.() !== false)
        .map(([, { kind }]) => kind);
    for (let waited = 0; left().length > 0 && waited < grace; waited += 20) await sleep(20);
    return counted(left());
  } finally {
    hook.disable();
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
