/** closeInTime: closes the Env of a client that has left, without waiting for it forever. */

import { withinDeadline } from '../boundary/deadline.ts';
import type { Env } from '../protocol/env.ts';
import { ToolEnvError } from '../protocol/errors.ts';

/** Milliseconds that an Env has to close, after which its session counts as closed. */
const closeTimeout = 10_000;

/** @throws ToolEnvError `infrastructure.env_close` after 10 s, and what closing throws. */
export async function closeInTime(env: Pick<Env, 'close'>, name: string): Promise<void> {
  const message = `${name} did not close within ${closeTimeout / 1000} s: its step or its close hangs; make both end when the signal aborts.`;
  const reason = () => new ToolEnvError('infrastructure.env_close', message);
  await withinDeadline({ after: closeTimeout, reason }, () => env.close());
}
