/** The provider `virtual-v1`: a shell in JavaScript, which needs nothing but Node. */
import { defineSandboxProvider, type SandboxHost, type SandboxProvider } from '@toolenv/core/plugins';
import { limitProperties, type SandboxLimits, workFolder } from '../limits.ts';
import { SparePool } from '../spare-pool.ts';
import { type KeptEntry, ShellThread } from './shell-thread.ts';
import { VirtualSandbox } from './virtual-sandbox.ts';

/** Limits, and threads that are kept ready for the next sandboxes. */
export type VirtualOptions = SandboxLimits & { spare: number };

function threads(options: VirtualOptions): SandboxHost {
  const { memory, disk, spare } = options;
  const start = (files: readonly KeptEntry[]) => new ShellThread({ memory, disk, home: workFolder, files });
  return new SparePool({
    spare,
    async begin() {
      const thread = start([]);
      await thread.ready();
      return thread;
    },
    remove: (thread) => thread.end(),
    sandbox: (thread, closed) =>
      new VirtualSandbox(thread, options, { restart: (files) => start(files.all()), closed }),
  });
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
  open: async (options) => threads(options),
  async inspect() {
    return {
      limits: {
        memory: 'heap of the thread',
        disk: 'bytes in memory',
        processes: 'a shell that starts none',
      },
      orphans: [],
    };
  },
});

export default virtual;
