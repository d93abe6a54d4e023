/** Checks that an episode depends only on its task, its seed and its actions. */
import type { Action } from '@toolenv/core';
import type { RuleId } from '../rules.ts';
import { Violation } from '../violation.ts';
import type { EnvSubject } from './env-subject.ts';

/** Number of episodes that run side by side. */
const together = 4;
/** Characters shown before and after the first difference of two transcripts. */
const before = 20;
const after = 80;

interface Plan {
  task: unknown;
  seed: number;
  actions: Action[];
  transcript: string[];
}

export async function checkReplay(subject: EnvSubject): Promise<void> {
  const { report } = subject;
  const { seedable = true, concurrent = true } = subject.definition.capabilities ?? {};
  if (!seedable) {
    report.skip(['ENV-9', 'ENV-11', 'ENV-12'], 'the environment declares that it is not seedable');
    await report.check(['ENV-13'], () => firstPlay(subject, 0));
    return;
  }
  const plans: Plan[] = [];
  const playTwice = async () => {
    for (let i = 0; i < together; i++) plans.push(await firstPlay(subject, i));
    for (const plan of plans)
      expectSame('ENV-11', 'the same episode again', plan.transcript, await transcriptOf(subject, plan));
  };
  await report.check(['ENV-11', 'ENV-13'], playTwice, report.wants('ENV-9', 'ENV-12'));
  // The other rules compare episodes, so they need episodes that repeat.
  if (report.settled('ENV-11') || plans.length < together) {
    report.skip(['ENV-9', 'ENV-12'], 'episodes do not repeat');
    return;
  }
  if (!concurrent) report.skip(['ENV-12'], 'the environment declares that it is not concurrent');
  else
    await report.check(['ENV-12'], async () => {
      await playedInterleaved(subject, plans);
      await playedAtOnce(subject, plans);
    });
  await report.check(['ENV-9'], () => playedInOneEnv(subject, plans));
}

/** Plays plan number `index`. There are two plans for each task, so that episodes of one task run side by side too. */
async function firstPlay(subject: EnvSubject, index: number): Promise<Plan> {
  const task = subject.task(Math.floor(index / 2));
  return subject.withWatched(async (env) => {
    const actions = subject.actions(await env.reset(task, index), index);
    await env.take(actions);
    return { task, seed: index, actions, transcript: env.transcript };
  });
}

/** The transcript of the plan in a fresh Env. */
function transcriptOf(subject: EnvSubject, { task, seed, actions }: Plan): Promise<string[]> {
  return subject.withWatched(async (env) => {
    await env.play(task, seed, actions);
    return env.transcript;
  });
}

/** Plays all episodes in turn, one step of each at a time. */
async function playedInterleaved(subject: EnvSubject, plans: readonly Plan[]): Promise<void> {
  const envs = plans.map(() => subject.watched());
  try {
    for (const [i, env] of envs.entries()) await env.reset(plans[i]!.task, plans[i]!.seed);
    const longest = Math.max(...plans.map(({ actions }) => actions.length));
    for (let turn = 0; turn < longest; turn++) {
      for (const [i, env] of envs.entries()) {
        const action = plans[i]!.actions[turn];
        if (action && env.running) await env.step(action);
      }
    }
    const expected = 'the same episode interleaved with others as alone';
    for (const [i, env] of envs.entries())
      expectSame('ENV-12', expected, plans[i]!.transcript, env.transcript);
  } finally {
    await Promise.all(envs.map(({ env }) => env.close().catch(() => {})));
  }
}

async function playedAtOnce(subject: EnvSubject, plans: readonly Plan[]): Promise<void> {
  const played = await Promise.allSettled(plans.map((plan) => transcriptOf(subject, plan)));
  for (const [i, result] of played.entries()) {
    if (result.status === 'rejected') throw result.reason;
    expectSame('ENV-12', 'the same episode concurrently as alone', plans[i]!.transcript, result.value);
  }
}

/** Plays all episodes in one Env. Every second episode is left in the middle by the next reset. */
async function playedInOneEnv(subject: EnvSubject, plans: readonly Plan[]): Promise<void> {
  await subject.withWatched(async (env) => {
    for (const [i, plan] of plans.entries()) {
      const actions = i % 2 === 0 ? plan.actions : plan.actions.slice(0, 1);
      await env.play(plan.task, plan.seed, actions);
      const expected = plan.transcript.slice(0, env.transcript.length);
      expectSame('ENV-9', 'the same episode in a used Env as in a fresh one', expected, env.transcript);
    }
  });
}

/** Quotes the place where two transcripts begin to differ. */
function expectSame(
  rule: RuleId,
  what: string,
  expected: readonly string[],
  received: readonly string[],
): void {
  const step = expected.findIndex((text, index) => text !== received[index]);
  if (step < 0 && expected.length === received.length) return;
  const index = step < 0 ? expected.length : step;
  const [left = 'the end', right = 'the end'] = [expected[index], received[index]];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const excerpt = (text: string) => text.slice(Math.max(0, at - before), at + after);
  const where = index === 0 ? 'at reset' : `after step ${index}`;
  throw new Violation(rule, `${what}, ${where}: …${excerpt(left)}`, `${where}: …${excerpt(right)}`);
}
