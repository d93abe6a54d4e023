/** The process that {@link inChild} starts: runs a module's function and reports its result and everything that escaped. */
import { messageOf, ToolEnvError } from '@toolenv/core';
import type { ChildMessage } from './in-child.ts';
import type { Reporter } from './part.ts';

const escapes: string[] = [];
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error: unknown) => escapes.push(`${event}: ${describe(error)}`));

process.once('message', async (input) => {
  const send = (message: ChildMessage) =>
    new Promise<void>((resolve) => process.send!(message, () => resolve()));
  const reporter: Reporter = {
    say: (line) => void send({ kind: 'say', line }),
    report: (check) => void send({ kind: 'check', check }),
  };
  try {
    const { run } = await import(process.argv[2]!);
    const value = await run(input, reporter);
    // A rejection is reported as unhandled after the microtasks that follow it.
    await new Promise((resolve) => setTimeout(resolve, 20));
    await send({ kind: 'returned', value, escapes });
  } catch (error) {
    const code = ToolEnvError.isInstance(error) ? error.code : undefined;
    await send({ kind: 'threw', message: describe(error), code, escapes });
  }
  process.exit();
});

/** The message of any thrown value, even if reading it throws. */
function describe(error: unknown): string {
  try {
    return messageOf(error);
  } catch {
    return 'a value that cannot be read';
  }
}
