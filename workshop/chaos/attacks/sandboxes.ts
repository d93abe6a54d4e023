/** Attacks on sandboxes, by commands of a model and by a failing machine. */
import { existsSync } from 'node:fs';
import { isInfrastructure, type Sandbox } from '@toolenv/core';
import { openSandboxes } from '@toolenv/core/plugins';
import { type Attack, holds, thrown, within } from './attack.ts';

const kinds: Record<string, string> = {
  virtual: '@toolenv/sandbox/virtual-v1?memory=128&disk=8&timeout=3000',
  ...(existsSync('/usr/bin/bwrap') && {
    bubblewrap: '@toolenv/sandbox/bubblewrap-v1?memory=128&disk=8&timeout=3000&processes=64',
  }),
};

/** `packages/sandbox/process-test` has the other bombs, and these in bubblewrap. */
const bombs: Record<string, string> = {
  'fork bomb': ':(){ :|:& };:; sleep 9',
  'kill of everything': 'kill -9 -1; exit 1',
};

async function inSandbox(ref: string, body: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const host = await openSandboxes(ref, { from: import.meta.dirname });
  try {
    await body(await host.sandbox());
  } finally {
    await host.close();
  }
}

export const sandboxes: readonly Attack[] = Object.entries(kinds).flatMap(([kind, ref]) => [
  ...(kind === 'virtual' ? Object.entries(bombs) : []).map(
    ([name, command]): Attack => ({
      name: `${kind}, ${name}`,
      attack: command,
      expected: 'a result within the time, and the next command runs',
      run: () =>
        inSandbox(ref, async (sandbox) => {
          const { exitCode } = await within(10_000, sandbox.run(command));
          holds(exitCode !== 0, 'it counted as a success');
          const { stdout } = await within(10_000, sandbox.run('echo on'));
          holds(stdout === 'on\n', `the next command said ${JSON.stringify(stdout)}`);
        }),
    }),
  ),
  {
    name: `${kind}, closed in the middle of a command`,
    attack: 'the sandbox is closed while a command runs',
    expected: 'an infrastructure error at once',
    run: () =>
      inSandbox(ref, async (sandbox) => {
        const run = thrown(() => sandbox.run('sleep 100', { timeout: 60_000 }));
        setTimeout(() => void sandbox.close(), 300);
        const error = await within(5_000, run);
        holds(isInfrastructure(error), `threw ${error}`);
      }),
  },
]);
