/** Checks the order in which an Env may be used: reset, steps, end, close. */
import { type Action, type Env, ToolEnvError } from '@toolenv/core';
import { withTimeout } from '../in-time.ts';
import type { RuleId } from '../rules.ts';
import { brief, Violation } from '../violation.ts';
import { type EnvSubject, nothing, wrongCall } from './env-subject.ts';
import type { WatchedEnv } from './watched-env.ts';

/** Largest number of turns that a check takes to reach the end of an episode. */
const turnsPerEpisode = 1000;

export async function checkOrder(subject: EnvSubject): Promise<void> {
  const { report } = subject;
  await report.check(['ENV-6'], () => stepBeforeReset(subject));
  await report.check(['ENV-7'], () => stepAfterEnd(subject));
  await report.check(['ENV-8'], () => stepDuringStep(subject));
  await report.check(['ENV-10'], () => closing(subject));
  if (subject.definition.limits.maxTurns > turnsPerEpisode) {
    report.skip(['ENV-22', 'ENV-23'], `maxTurns is above ${turnsPerEpisode}`);
  } else {
    await report.check(['ENV-22', 'ENV-23'], () => turnLimit(subject));
  }
}

async function stepBeforeReset(subject: EnvSubject): Promise<void> {
  await subject.withWatched(({ env }) =>
    expectBug(subject, env, 'ENV-6', 'step_before_reset', 'before reset()'),
  );
  await subject.withWatched(async (watched) => {
    await watched.reset(subject.task(0), 1);
    await watched.close();
    await expectBug(subject, watched.env, 'ENV-6', 'step_before_reset', 'after close()');
  });
}

async function stepAfterEnd(subject: EnvSubject): Promise<void> {
  await subject.withWatched(async (watched) => {
    await watched.play(subject.task(0), 1, Array(turnsPerEpisode).fill(nothing));
    if (watched.running) return;
    await expectBug(subject, watched.env, 'ENV-7', 'step_after_end', 'after the end');
  });
}

async function stepDuringStep(subject: EnvSubject): Promise<void> {
  await subject.withWatched(async (watched) => {
    await watched.reset(subject.task(0), 1);
    const { env } = watched;
    const first = env.step(wrongCall);
    first.catch(() => {});
    await expectBug(subject, env, 'ENV-8', 'concurrent_step', 'while another step is under way');
    const answer = 'an answer to the first of two steps';
    await withTimeout('ENV-28', answer, subject.timeout, () => first).catch((error) => {
      if (error instanceof Violation) throw error;
      throw new Violation('ENV-8', 'the first of two steps to succeed', brief(error));
    });
  });
}

async function closing(subject: EnvSubject): Promise<void> {
  const close = async (env: WatchedEnv<unknown>, when: string): Promise<void> => {
    await env.close().catch(({ received }: Violation) => {
      throw new Violation('ENV-10', `close() ${when} to do nothing`, received);
    });
  };
  await close(subject.watched(), 'before reset()');
  const env = subject.watched();
  await env.reset(subject.task(0), 1);
  await close(env, 'in the middle of an episode');
  await close(env, 'for the second time');
}

/** Plays an episode of wrong calls only, which the turn limit must end. */
async function turnLimit(subject: EnvSubject): Promise<void> {
  const { maxTurns } = subject.definition.limits;
  await subject.withWatched((env) => env.play(subject.task(0), 1, Array<Action>(maxTurns).fill(wrongCall)));
}

async function expectBug(
  subject: EnvSubject,
  env: Env,
  rule: RuleId,
  name: string,
  when: string,
): Promise<void> {
  const expected = `step() ${when} to throw ToolEnvError "bug.${name}"`;
  const received = await withTimeout('ENV-28', `an answer to step() ${when}`, subject.timeout, () =>
    env.step(nothing).catch((error: unknown) => error),
  );
  if (ToolEnvError.isInstance(received) && received.code === `bug.${name}`) return;
  throw new Violation(rule, expected, brief(received));
}
