/** The provider `bubblewrap-v1`: processes of this machine in namespaces of their own. */
import { accessSync, constants } from 'node:fs';
import { messageOf } from '@toolenv/core';
import {
  defineSandboxProvider,
  type SandboxHost,
  type SandboxProvider,
  type SandboxReport,
} from '@toolenv/core/plugins';
import { processLimitProperties } from '../limits.ts';
import { sandboxUsage } from '../sandbox-errors.ts';
import { SparePool } from '../spare-pool.ts';
import { type BubblewrapLimits, programs } from './bubble.ts';
import { BubblewrapSandbox } from './bubblewrap-sandbox.ts';
import { attempt, orphanedGroups, removeGroup } from './cgroup.ts';

function bubbles(limits: BubblewrapLimits): SandboxHost {
  return new SparePool<BubblewrapSandbox>({
    spare: 0,
    async begin() {
      const made = new BubblewrapSandbox(limits);
      try {
        await made.begin();
        return made;
      } catch (error) {
        await made.close();
        throw error;
      }
    },
    remove: (made) => made.close(),
    sandbox(made, closed) {
      made.closed = closed;
      return made;
    },
  });
}

/** What the machine lacks. */
function lacking({ bwrap }: BubblewrapLimits): string | undefined {
  if (!isExecutable(bwrap))
    return `there is no ${bwrap}: apt-get install bubblewrap, or name it with the option bwrap`;
  const absent = programs.find((program) => !isExecutable(program));
  return absent === undefined ? undefined : `there is no ${absent}: apt-get install util-linux`;
}

const bubblewrap: SandboxProvider<BubblewrapLimits> = defineSandboxProvider({
  name: 'bubblewrap-v1',
  description:
    "Programs of this machine in namespaces of their own: no network, read-only system folders, an empty folder of work. Needs Linux and Debian's bubblewrap.",
  options: {
    type: 'object',
    properties: {
      ...processLimitProperties,
      bwrap: { type: 'string', default: '/usr/bin/bwrap', description: 'path of bwrap' },
    },
    additionalProperties: false,
  },
  async open(limits) {
    const problem = lacking(limits);
    if (problem !== undefined) throw sandboxUsage(`Bubblewrap sandboxes cannot run: ${problem}.`);
    return bubbles(limits);
  },
  async inspect(limits): Promise<SandboxReport> {
    const orphans = orphanedGroups().map((folder) => ({ name: folder, remove: () => removeGroup(folder) }));
    const disk = 'tmpfs';
    const problem = lacking(limits);
    if (problem !== undefined) return { problem, limits: { disk }, orphans };
    const trial = new BubblewrapSandbox(limits);
    try {
      const groups = await trial.begin();
      const memory = groups.includes('memory')
        ? 'cgroup'
        : 'each process by itself: this process may make no memory cgroup';
      const processes = groups.includes('processes')
        ? 'cgroup'
        : 'ulimit, which does not stop root: this process may make no pids cgroup';
      return { limits: { memory, processes, disk }, orphans };
    } catch (error) {
      return { problem: messageOf(error), limits: { disk }, orphans };
    } finally {
      await trial.close();
    }
  },
});

function isExecutable(file: string): boolean {
  return attempt(() => {
    accessSync(file, constants.X_OK);
    return true;
  }, false);
}

export default bubblewrap;
