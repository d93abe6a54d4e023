/** Checks how an episode ends when it is cancelled and when its tools hang or fail. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Action, isInfrastructure, type Observation, type ToolCall } from '@toolenv/core';
import { validate } from '@toolenv/core/schemas';
import fc from 'fast-check';
import { withTimeout } from '../in-time.ts';
import type { RuleId } from '../rules.ts';
import { brief, Violation } from '../violation.ts';
import { type EnvSubject, nothing } from './env-subject.ts';
import { validCalls } from './fuzz-actions.ts';

/** Milliseconds that a step runs before it is cancelled. */
const headStart = 20;

export async function checkCancellation(subject: EnvSubject): Promise<void> {
  await subject.report.check(['ENV-29'], async () => {
    await cancelledBefore(subject);
    await cancelledDuring(subject);
  });
}

async function cancelledBefore(subject: EnvSubject): Promise<void> {
  const reason = new Error('cancelled by the check');
  const signal = AbortSignal.abort(reason);
  const task = subject.task(0);
  await subject.withWatched(({ env }) =>
    expectReason(subject, reason, 'reset() with an aborted signal', () =>
      env.reset({ task, seed: 1, signal }),
    ),
  );
  await subject.withWatched(async (watched) => {
    await watched.reset(task, 1);
    await expectReason(subject, reason, 'step() with an aborted signal', () =>
      watched.env.step(nothing, { signal }),
    );
  });
}

/** A step whose tool hangs must reject. A step that is at work must end; it may resolve or reject. */
async function cancelledDuring(subject: EnvSubject): Promise<void> {
  const reason = new Error('cancelled by the check');
  await subject.withWatched(async (watched) => {
    const observation = await watched.reset(subject.task(0), 1);
    const hanging = roleCall(subject, observation);
    const action = hanging ?? subject.actions(observation, 0)[0] ?? nothing;
    const controller = new AbortController();
    const work = () => watched.env.step(action, { signal: controller.signal });
    subject.tools.fault = 'hang';
    try {
      const step = hanging
        ? expectReason(subject, reason, 'step() whose signal aborts while a tool hangs', work)
        : withTimeout('ENV-29', 'step() whose signal aborts to end', subject.timeout + headStart, work);
      step.catch(() => {});
      await sleep(headStart);
      controller.abort(reason);
      await step.catch((error) => {
        if (error instanceof Violation) throw error;
      });
    } finally {
      subject.tools.fault = 'none';
    }
  });
}

/** In milliseconds. */
const minLimit = 50;

/**
 * A limit of tools in milliseconds. It is short, so that a hanging tool costs little time, and yet longer than what the environment does with
 * its tools when an episode begins.
 */
export async function shortLimit(subject: EnvSubject): Promise<number> {
  const begun = performance.now();
  const begin = () => subject.withWatched((env) => env.reset(subject.task(0), 1));
  // Another check reports what reset() throws.
  await begin().catch(() => {});
  return Math.max(minLimit, Math.ceil(10 * (performance.now() - begun)));
}

/** `subject` was opened with a {@link shortLimit} if the environment has an option for it. */
export async function checkFaults(subject: EnvSubject): Promise<void> {
  const { report, timeout } = subject;
  let action: Action | undefined;
  const findCall = async () => {
    action = roleCall(subject, await subject.withWatched((env) => env.reset(subject.task(0), 1)));
  };
  await report.check(['ENV-14'], findCall, report.wants('ENV-30', 'ENV-31'));
  if (!action) {
    const remedy =
      "give a tool by a role, roles: { search: '<package>/<name>-v1' }; for its own tools, defineToolEnv keeps the rule";
    const reason = `the first observation offers no tool of a role, so none can be made to fail: ${remedy}`;
    report.skip(['ENV-30', 'ENV-31'], reason);
    return;
  }
  await report.check(['ENV-31'], () => expectAborted(subject, 'fail', 'ENV-31', action!));
  const { toolTimeout } = subject.open.episode().spec.limits;
  if (toolTimeout >= timeout) {
    report.skip(['ENV-30'], `toolTimeout is ${toolTimeout} ms, and the check waits ${timeout} ms`);
    return;
  }
  await report.check(['ENV-30'], () => expectAborted(subject, 'hang', 'ENV-30', action!));
}

async function expectAborted(
  subject: EnvSubject,
  fault: 'hang' | 'fail',
  rule: RuleId,
  action: Action,
): Promise<void> {
  const expected = `a step whose tool ${fault}s to be aborted with an infrastructure.* cause`;
  subject.tools.fault = fault;
  try {
    await subject.withWatched(async (watched) => {
      await watched.reset(subject.task(0), 1);
      const { outcome } = await watched.step(action).catch((error: unknown) => {
        const unanswered = error instanceof Violation && ['ENV-27', 'ENV-28'].includes(error.rule);
        throw unanswered ? new Violation(rule, expected, error.received) : error;
      });
      if (outcome.kind === 'aborted' && isInfrastructure(outcome.cause)) return;
      throw new Violation(rule, expected, brief(outcome));
    });
  } finally {
    subject.tools.fault = 'none';
  }
}

/** A valid call of an offered tool that fills a role, if there is such a tool. */
function roleCall(subject: EnvSubject, observation: Observation): Action | undefined {
  const tools = observation.tools.filter(({ name }) => subject.tools.names.has(name));
  if (tools.length === 0) return undefined;
  const candidates = fc.sample(validCalls(tools), { seed: subject.seed, numRuns: 50 });
  return candidates.find(({ toolCalls: [call] }) => {
    const { name, arguments: args } = call as ToolCall;
    return validate(tools.find((tool) => tool.name === name)!.inputSchema, args).length === 0;
  });
}

async function expectReason(
  subject: EnvSubject,
  reason: Error,
  what: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const received = await withTimeout('ENV-29', `${what} to end`, subject.timeout + headStart, () =>
    work().then(brief, (error: unknown) => error),
  );
  if (received === reason) return;
  throw new Violation('ENV-29', `${what} to reject with the signal's reason`, brief(received));
}
