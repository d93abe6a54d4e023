/** Warnings about an environment as a whole: mistakes of its author that break no rule. */
import type { Action } from '@toolenv/core';
import fc from 'fast-check';
import { brief, Violation } from '../violation.ts';
import type { EnvSubject } from './env-subject.ts';
import { validCalls } from './fuzz-actions.ts';

/** Number of different actions that should not all be answered alike. */
const several = 3;
/** Number of tasks in which the oracle's actions are tried. */
const triedTasks = 4;

/** Call it last: it looks at the rewards of all episodes that were played, and at the actions of the oracle. */
export async function checkWarnings(subject: EnvSubject): Promise<void> {
  const { definition, report } = subject;
  await report.check(['WARN-5'], () => {
    if (subject.tasks.some((task) => definition.oracle?.(task) !== undefined)) return;
    throw new Violation('WARN-5', 'an oracle for some of the tasks', 'none');
  });
  // Without an oracle it is not known which actions matter. Steps that break rules say little about rewards.
  if (subject.oracleActions.length === 0 || !report.report.ok) return;
  await report.check(['WARN-3'], () => checkReplies(subject));
  await report.check(['WARN-4'], () => checkRewards(subject));
}

/** Plays what the oracle does in any task, and some valid calls. Something must make a difference. */
async function checkReplies(subject: EnvSubject): Promise<void> {
  let alike: string | undefined;
  for (let index = 0; index < Math.min(triedTasks, subject.tasks.length); index++) {
    const transitions = await subject.withWatched(async (env) => {
      const { tools } = await env.reset(subject.task(index), index);
      const calls = tools.length > 0 ? fc.sample(validCalls(tools), { seed: index, numRuns: several }) : [];
      return env.take(inTryingOrder([...subject.oracleActions, ...calls]));
    });
    const replies = transitions
      .filter(({ outcome }) => outcome.kind === 'running')
      .map(({ observation }) => observation.messages.at(-1)!.content);
    if (replies.length < several) continue;
    if (replies.some((reply) => reply !== replies[0])) return;
    alike = replies[0];
  }
  if (alike === undefined) return;
  throw new Violation('WARN-3', 'different replies to different actions', `${brief(alike)} to all of them`);
}

/** Each action once. Calls come first, since an answer may end the episode. */
function inTryingOrder(actions: readonly Action[]): Action[] {
  const different = new Map(actions.map((action) => [asWritten(action), action]));
  return [...different.values()].sort((a, b) => b.toolCalls.length - a.toolCalls.length);
}

/** What the policy wrote, without the ids of its calls. */
function asWritten({ text, toolCalls }: Action): string {
  return JSON.stringify([text, toolCalls.map((call) => ({ ...call, id: '' }))]);
}

function checkRewards({ definition, totals }: EnvSubject): void {
  for (const [name, { weight }] of Object.entries(definition.rewards)) {
    const seen = totals.get(name) ?? new Set([0]);
    if (weight === 0 || seen.size > 1) continue;
    const expected = `episodes that differ in "${name}", whose weight is ${weight}`;
    throw new Violation('WARN-4', expected, `${[...seen]} in all of them`);
  }
}
