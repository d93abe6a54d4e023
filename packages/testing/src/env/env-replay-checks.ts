/** Checks that an episode depends only on its task, its seed and its actions. */
import { type Action, isParseFailure, maxConcurrency, scriptedPolicy } from '@toolenv/core';
import type { RuleId } from '../rules.ts';
import { Violation } from '../violation.ts';
import { type EnvSubject, failedElsewhere } from './env-subject.ts';
import { watchImpureCalls } from './impure-calls.ts';

/** Number of episodes that run side by side. */
const together = 4;
/** Number of tasks in which almost the oracle's actions are taken. */
const perturbed = 2;
/** Largest number of these actions. */
const maxDialogueLength = 12;
/** Characters shown before and after the first difference of two transcripts. */
const before = 20;
const after = 80;

interface Plan {
  task: unknown;
  seed: number;
  actions: Action[];
  transcript: string[];
}

/** @param folder Of the package that the environment is in. */
export async function checkReplay(subject: EnvSubject, folder?: string): Promise<void> {
  const { report } = subject;
  const { seedable = true } = subject.definition.capabilities ?? {};
  if (!seedable) {
    report.skip(['ENV-9', 'ENV-11', 'ENV-12'], 'the environment declares that it is not seedable');
    await report.check(['ENV-13'], () => firstPlay(subject, 0));
    return;
  }
  const plans: Plan[] = [];
  const impure = new Set<string>();
  const playTwice = async () => {
    for (let i = 0; i < together; i++) plans.push(await firstPlay(subject, i));
    for (let i = 0; i < perturbed; i++) {
      const plan = await perturbedPlay(subject, i);
      if (plan) plans.push(plan);
    }
    for (const plan of plans) {
      const again = await transcriptOf(subject, plan);
      expectSame('ENV-11', 'the same episode again', plan.transcript, again, (same) =>
        impure.size > 0 ? undefined : causeOf(same),
      );
    }
  };
  const isNeeded = report.wants('ENV-9', 'ENV-12', 'WARN-8');
  await report.check(['ENV-11', 'ENV-13'], () => watchImpureCalls(playTwice, impure, folder), isNeeded);
  await report.check(['WARN-8'], () => {
    if (impure.size === 0) return;
    throw new Violation(
      'WARN-8',
      'episodes that only their seed decides',
      [...impure].slice(0, 3).join('; '),
    );
  });
  // The other rules compare episodes, so they need episodes that repeat.
  if (report.settled('ENV-11') || plans.length < together) {
    report.skip(['ENV-9', 'ENV-12'], 'episodes do not repeat');
    return;
  }
  const besides = plans.slice(0, maxConcurrency(subject.definition.capabilities));
  if (besides.length === 1) report.skip(['ENV-12'], 'the environment declares that it is not concurrent');
  else
    await report.check(['ENV-12'], async () => {
      await playedInterleaved(subject, besides);
      await playedAtOnce(subject, besides);
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

/**
 * Plays the oracle, once as it is and once with other numbers: random text is no offer and no move, so that it never reaches most of a
 * dialogue's code. `undefined` without a script.
 */
async function perturbedPlay(subject: EnvSubject, index: number): Promise<Plan | undefined> {
  const task = subject.task(index);
  const script = subject.definition.oracle?.(task);
  if (!script) return undefined;
  const policy = scriptedPolicy(script);
  const seed = together + index;
  return subject.withWatched(async (env) => {
    let observation = await env.reset(task, seed);
    const actions: Action[] = [];
    while (env.running && actions.length < maxDialogueLength) {
      // An oracle need not know what to say after a change.
      const said = await policy
        .act(observation, { maxTokens: 1, temperature: 0, seed })
        .catch(() => undefined);
      if (!said) break;
      const action = index === 0 && actions.length === 0 ? withOtherNumbers(said) : said;
      actions.push(action);
      observation = (await env.step(action)).observation;
    }
    return { task, seed, actions, transcript: env.transcript };
  });
}

/** The action with each number in its text and its arguments greater by 1. */
function withOtherNumbers({ text, toolCalls, ...rest }: Action): Action {
  const more = (given: string) => given.replace(/\d{1,9}/g, (digits) => String(Number(digits) + 1));
  const changed = toolCalls.map((call) =>
    isParseFailure(call)
      ? call
      : {
          ...call,
          arguments: JSON.parse(
            JSON.stringify(call.arguments, (_, part) =>
              typeof part === 'number' ? part + 1 : typeof part === 'string' ? more(part) : part,
            ),
          ),
        },
  );
  return { ...rest, text: more(text), toolCalls: changed };
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

/**
 * What makes episodes differ that ask neither Math.random nor the clock of this process: a tool, or what another episode left.
 * @param same What is the same of the step. A step begins with its transition.
 */
function causeOf(same: string): string {
  const [calls] = /"calls":\[(?!.*\],"info":).*$/s.exec(same) ?? [];
  const tool = calls && [...calls.matchAll(/"name":"([^"]+)"/g)].at(-1)?.[1];
  if (!tool)
    return 'Make all state in episode(), because the next episode finds what a module or a shared object keeps. Draw from context.rng.';
  return `The tool "${tool}" answers differently each time. Draw from the rng of its context, and keep no state outside of the episode. Leave a tool of a server out: name the others in "only".`;
}

/** Quotes the place where two transcripts begin to differ. An episode that a judge or a server has cut short is the same up to there. */
function expectSame(
  rule: RuleId,
  what: string,
  expected: readonly string[],
  received: readonly string[],
  hintOf: (same: string) => string | undefined = () => undefined,
): void {
  const step = expected.findIndex((text, index) => text !== received[index]);
  if (step < 0 && expected.length === received.length) return;
  const index = step < 0 ? expected.length : step;
  const [left = 'the end', right = 'the end'] = [expected[index], received[index]];
  if (failedElsewhere(left) || failedElsewhere(right)) return;
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const excerpt = (text: string) => text.slice(Math.max(0, at - before), at + after);
  const where = index === 0 ? 'at reset' : `after step ${index}`;
  throw new Violation(
    rule,
    `${what}, ${where}: …${excerpt(left)}`,
    `${where}: …${excerpt(right)}`,
    hintOf(left.slice(0, at)),
  );
}
