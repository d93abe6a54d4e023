/** The provider `virtual-v1`: a shell in JavaScript, which needs nothing but Node. */
import { defineSandboxProvider, type SandboxHost, type SandboxProvider } from '@toolenv/core/plugins';
import { limitProperties, type SandboxLimits, workFolder } from '../limits.ts';
import { sandboxFault } from '../sandbox-errors.ts';
import { ShellThread } from './shell-thread.ts';
import { VirtualSandbox } from './virtual-sandbox.ts';

/** Limits, and threads that are kept ready for the next sandboxes. */
export type VirtualOptions = SandboxLimits & { spare: number };

class VirtualHost implements SandboxHost {
  readonly #options: VirtualOptions;
  readonly #spare: ShellThread[] = [];
  readonly #open: Set<VirtualSandbox> = new Set();
  #closed = false;

  constructor(options: VirtualOptions) {
    this.#options = options;
    this.#refill();
  }

  async sandbox({ signal }: { signal?: AbortSignal } = {}): Promise<VirtualSandbox> {
    signal?.throwIfAborted();
    if (this.#closed) throw sandboxFault('The sandboxes are closed: open them again.');
    const thread = this.#spare.shift() ?? this.#start();
    this.#refill();
    const made: VirtualSandbox = new VirtualSandbox(thread, this.#options, {
      restart: (files) => this.#start(files.all()),
      closed: () => this.#open.delete(made),
    });
    this.#open.add(made);
    try {
      await thread.ready();
      return made;
    } catch (error) {
      await made.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(
      [...this.#open, ...this.#spare.splice(0)].map((one) => ('end' in one ? one.end() : one.close())),
    );
  }

  #start(files: ConstructorParameters<typeof ShellThread>[0]['files'] = []): ShellThread {
    const { memory, disk } = this.#options;
    return new ShellThread({ memory, disk, home: workFolder, files });
  }

  #refill(): void {
    while (!this.#closed && this.#spare.length < this.#options.spare) this.#spare.push(this.#start());
  }
}

const virtual: SandboxProvider<VirtualOptions> = defineSandboxProvider({
  name: 'virtual-v1',
  description:
    'A shell with the usual commands, and files in memory, in a thread: just-bash. Runs no program of the machine.',
  options: {
    type: 'object',
    properties: {
      ...limitProperties,
      spare: {
        type: 'integer',
        minimum: 0,
        default: 1,
        description: 'threads that are kept ready for the next sandboxes',
      },
    },
    additionalProperties: false,
  },
  async open(options) {
    return new VirtualHost(options);
  },
  async inspect() {
    return {
      limits: { memory: 'heap of the thread', disk: 'bytes in memory', processes: 'it starts none' },
      orphans: [],
    };
  },
});

export default virtual;
