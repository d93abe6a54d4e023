/** Attacks by services of remote machines, and by what runs in a machine. */
import { existsSync } from 'node:fs';
import { isInfrastructure, type Sandbox } from '@toolenv/core';
import { openSandboxes } from '@toolenv/core/plugins';
import { e2bApi } from '../../../packages/sandbox/process-test/stand-in/e2b-api.ts';
import { type Fault, StandIn } from '../../../packages/sandbox/process-test/stand-in/stand-in.ts';
import { type Attack, holds, thrown, within } from './attack.ts';

/** Runs the body with a stand-in of E2B. Nothing may be left in it. */
async function withStandIn(
  body: (standIn: StandIn, sandbox: () => Promise<Sandbox>) => Promise<void>,
): Promise<void> {
  const standIn = await StandIn.start(e2bApi);
  const { E2B_API_KEY, E2B_API_URL, E2B_SANDBOX_URL, ...rest } = process.env;
  process.env = {
    ...rest,
    E2B_API_KEY: e2bApi.key,
    E2B_API_URL: standIn.url,
    E2B_SANDBOX_URL: standIn.url,
  };
  try {
    const host = await openSandboxes('@toolenv/sandbox/e2b-v1', { from: import.meta.dirname });
    try {
      await body(standIn, () => host.sandbox());
    } finally {
      standIn.misbehave();
      await host.close();
    }
    holds(standIn.machines.size === 0, 'a machine was left');
  } finally {
    await standIn.stop();
  }
}

const execution = /Process\/Start$/;
const faults: Record<string, Omit<Fault, 'at'>> = {
  'answers with an error': { kind: 'error' },
  'vanishes before a command': { kind: 'vanish' },
  'breaks off its answer': { kind: 'drop' },
  'answers with something else': { kind: 'garbage' },
};

const inMachines: readonly Attack[] = [
  ...Object.entries(faults).map(
    ([name, fault]): Attack => ({
      name: `a machine that ${name}`,
      attack: `a machine ${name}`,
      expected: 'an infrastructure error at once, and no machine is left',
      run: () =>
        withStandIn(async (standIn, open) => {
          const sandbox = await open();
          standIn.misbehave({ ...fault, at: execution });
          const error = await within(
            20_000,
            thrown(() => sandbox.run('echo on')),
          );
          holds(isInfrastructure(error), `threw ${error}`);
        }),
    }),
  ),
  {
    name: 'a command that kills what runs it',
    attack: 'kill -9 $PPID',
    expected: 'a result, and the next command runs',
    run: () =>
      withStandIn(async (_standIn, open) => {
        const sandbox = await open();
        const { exitCode } = await within(20_000, sandbox.run('kill -9 $PPID; sleep 100'));
        holds(exitCode === 137, `the exit code was ${exitCode}`);
        const { stdout } = await within(20_000, sandbox.run('echo on'));
        holds(stdout === 'on\n', `the next command said ${JSON.stringify(stdout)}`);
      }),
  },
];

export const machines: readonly Attack[] = [
  {
    name: 'a service that repeats the key',
    attack: 'the service refuses a machine, and its message repeats the key',
    expected: 'an infrastructure error without the key',
    run: () =>
      withStandIn(async (standIn, open) => {
        standIn.misbehave({ kind: 'deny', at: /./ });
        const error = await within(20_000, thrown(open));
        holds(isInfrastructure(error), `threw ${error}`);
        holds(!String(error).includes(e2bApi.key), 'the message has the key');
      }),
  },
  ...(existsSync('/usr/bin/bwrap') ? inMachines : []),
];
