/** checkSignals: cancels calls of an environment's tools, which must then stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, Env, OpenedEnv, ToolDescription } from '@toolenv/core';
import { type Cancellable, ignoredSignal } from '../ignored-signal.ts';
import { withTimeout } from '../in-time.ts';
import { Handles, leaksOf } from '../leaks.ts';
import { Violation } from '../violation.ts';
import type { EnvSubject } from './env-subject.ts';
import { randomCall } from './fuzz-actions.ts';

/** Number of tools of which a call is cancelled. */
const cancelledTools = 4;

/** A call of a tool in the first turn of a task. */
interface FirstCall {
  /** Number of the task. */
  task: number;
  action: Action;
}

/**
 * Looks for what goes on after a call was cancelled: by timers and handles that remain, because the environment itself no longer waits.
 * @param subject What was played: the oracle's calls are better than any other.
 * @throws Violation
 */
export async function checkSignals(
  subject: EnvSubject,
  open: () => Promise<OpenedEnv<unknown>>,
): Promise<void> {
  const calls = await firstCalls(subject, open);
  for (const [name, call] of calls) {
    const left = await leaksOf(async () => {
      await using env = await open();
      await inEpisode(subject.openedAs(env), call, (of) => cancelCall(of, call.action, subject.timeout));
    });
    if (left.length === 0) continue;
    const expected = `nothing of a call of "${name}" a second after its signal aborted`;
    throw new Violation('WARN-7', expected, left.join(', '));
  }
  // Only now: an agent of an open environment may still hold a connection.
  await using shared = await open();
  const inShared = subject.openedAs(shared);
  for (const [name, call] of calls) {
    const ignored = await ignoredSignal((time) =>
      inEpisode(inShared, call, (env) => time(stepAndRest(env, call.action))),
    );
    if (ignored === undefined) continue;
    throw new Violation('WARN-7', `a call of "${name}" to stop soon after its signal aborts`, ignored);
  }
}

async function firstCalls(
  subject: EnvSubject,
  open: () => Promise<OpenedEnv<unknown>>,
): Promise<Map<string, FirstCall>> {
  await using env = await open();
  const { tools } = await subject.openedAs(env).withWatched((watched) => watched.reset(subject.task(0), 1));
  return new Map(tools.slice(0, cancelledTools).map((tool) => [tool.name, firstCall(subject, tool)]));
}

/** The first call of the oracle in a task, if it is of the tool, or else any valid call. */
function firstCall(subject: EnvSubject, tool: ToolDescription): FirstCall {
  for (const [task, [first]] of subject.oracleActions) {
    const call = first?.toolCalls.find((each) => 'name' in each && each.name === tool.name);
    if (first && call) return { task, action: { ...first, toolCalls: [call] } };
  }
  return { task: 0, action: randomCall([tool], subject.seed) };
}

async function inEpisode(
  subject: EnvSubject,
  { task }: FirstCall,
  use: (env: Env<unknown>) => Promise<void>,
): Promise<void> {
  await subject.withWatched(async (watched) => {
    await watched.reset(subject.task(task), task);
    await use(watched.env);
  });
}

async function cancelCall(env: Env<unknown>, action: Action, timeout: number): Promise<void> {
  const controller = new AbortController();
  const step = withTimeout('ENV-29', 'step() whose signal aborts to end', timeout, () =>
    env.step(action, { signal: controller.signal }),
  );
  step.catch(() => {});
  await sleep(10);
  controller.abort(new Error('cancelled by the check'));
  // ENV-29 has its own check.
  await step.catch(() => {});
}

/** A step, and after its signal aborted also what it has opened. */
function stepAndRest(env: Env<unknown>, action: Action): Cancellable {
  return async (signal, most) => {
    const handles = new Handles();
    const begin = performance.now();
    try {
      // ENV-27 and ENV-29 have their own checks.
      await handles.run(() => env.step(action, { signal })).catch(() => {});
      while (signal.aborted && handles.isBusy() && performance.now() - begin < most) await sleep(5);
    } finally {
      handles.stop();
    }
  };
}
