/** converse: an agent that is a program which the caller talks to over its standard streams, such as JSON-RPC. */
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolEnvError } from '@toolenv/core';
import type { AgentContext } from './agent-episode.ts';
import { launch, type ProgramPlace } from './launch.ts';

/**
 * Runs a program while `talk` lasts, with the variables of `command`, and ends its process group then, or with the episode. Rejects with the failure
 * of `talk`, or with that of a program that ends before it.
 */
export async function converse<Result>(
  [file, ...args]: readonly [string, ...string[]],
  place: ProgramPlace,
  context: Pick<AgentContext, 'baseURL' | 'apiKey' | 'signal'>,
  talk: (streams: { input: Writable; output: Readable }) => Promise<Result>,
): Promise<Result> {
  const { signal } = context;
  signal.throwIfAborted();
  await using launched = await launch(file, args, place, context);
  const { program } = launched;
  program.keep('stderr');
  const finished = program.finished();
  const listening = new AbortController();
  const early = finished.then(() => {
    throw new ToolEnvError('infrastructure.agent_command', `${file} ended before its answer.`);
  });
  const stopped = once(signal, 'abort', { signal: listening.signal }).then(() => signal.throwIfAborted());
  const { stdin, stdout } = program.child;
  const talked = talk({ input: stdin!, output: stdout! }).catch(async (error) => {
    // How the program has ended tells more than that its stream has.
    if (stdout!.readableEnded) await Promise.race([early, sleep(moment)]);
    throw error;
  });
  try {
    return (await Promise.race([talked, early, stopped])) as Result;
  } finally {
    listening.abort();
    for (const each of [early, stopped, talked]) each.catch(() => {});
    program.end();
    stdout!.destroy();
    await finished.catch(() => {});
  }
}

/** Milliseconds in which a program whose streams have ended ends. */
const moment = 500;
