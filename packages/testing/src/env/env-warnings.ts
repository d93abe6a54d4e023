/** Warnings about an environment as a whole: mistakes of its author that break no rule. */
import { createHash } from 'node:crypto';
import {
  type Action,
  type EnvHandle,
  imagesOf,
  type Message,
  type Split,
  type ToolDescription,
} from '@toolenv/core';
import { canonical } from '@toolenv/core/recording';
import fc from 'fast-check';
import { brief, Violation } from '../violation.ts';
import type { EnvSubject } from './env-subject.ts';
import { validCalls } from './fuzz-actions.ts';
import { spread } from './some-tasks.ts';

/** Number of different actions that should not all be answered alike. */
const several = 3;
/** A range that is so many times as wide as another drowns it. */
const drowning = 20;
/** Number of tasks in which the oracle's actions are tried. */
const triedTasks = 4;

/** Call it last: it looks at the rewards of all episodes that were played, and at the actions of the oracle. */
export async function checkWarnings(subject: EnvSubject): Promise<void> {
  const { definition, report } = subject;
  await report.check(['WARN-5'], () => {
    if (subject.tasks.some((task) => definition.oracle?.(task) !== undefined)) return;
    throw new Violation('WARN-5', 'an oracle for some of the tasks', 'none');
  });
  await report.check(['WARN-9'], () => checkSplits(subject.open));
  await report.check(['WARN-12'], () => checkNamedSplits(subject.open));
  await report.check(['WARN-10'], () => checkWeights(definition));
  if (report.report.ok) await report.check(['WARN-11'], () => checkTexts(subject));
  // Without an oracle it is not known which actions matter. Steps that break rules say little about rewards.
  if (subject.oracleActions.size === 0 || !report.report.ok) return;
  await report.check(['WARN-3'], () => checkReplies(subject));
  await report.check(['WARN-4'], () => checkRewards(subject));
}

/** What JavaScript writes for a value that is no text. */
const notText = /\[object \w+\]|\bundefined\b|\bNaN\b/;

/** A task without a field, or an object, in the text that begins each episode. A task may speak of such words, but not every task. */
async function checkTexts(subject: EnvSubject): Promise<void> {
  let found = '';
  for (let index = 0; index < Math.min(triedTasks, subject.tasks.length); index++) {
    const task = subject.task(index);
    const { messages } = await subject.withWatched((env) => env.reset(task, index));
    const text = messages.map(({ content }) => content).find((content) => notText.test(content));
    if (text === undefined || notText.test(JSON.stringify(task))) return;
    found = text;
  }
  if (found) throw new Violation('WARN-11', 'a first message of texts and numbers', brief(found));
}

/** Plays what the oracle does in any task, and some valid calls. Something must make a difference. */
async function checkReplies(subject: EnvSubject): Promise<void> {
  const alike: string[] = [];
  for (let index = 0; index < Math.min(triedTasks, subject.tasks.length); index++) {
    const transitions = await subject.withWatched(async (env) => {
      const { tools } = await env.reset(subject.task(index), index);
      return env.take(actionsToTry(subject, index, tools, env.env.spec.limits.maxTurns));
    });
    // Messages to other players answer nobody's action, and a picture may be all that changes.
    const replies = transitions
      .filter(({ outcome, observation }) => outcome.kind === 'running' && !observation.conversation)
      .map(({ observation }) => replyOf(observation.messages.at(-1)!));
    if (replies.length < several) continue;
    if (replies.some((reply) => reply !== replies[0])) return;
    alike.push(replies[0]!);
  }
  // A single episode may be alike by chance.
  if (alike.length < Math.min(2, subject.tasks.length)) return;
  const received = `${brief(alike[0])} to all of them`;
  throw new Violation('WARN-3', 'different replies to different actions', received);
}

/** The text of a message, and what tells its images apart. */
function replyOf(message: Message): string {
  const digests = imagesOf(message).map(({ mimeType, data }) => {
    return `[${mimeType} ${createHash('sha256').update(data).digest('hex').slice(0, 8)}]`;
  });
  return [message.content, ...digests].join('\n');
}

/** Each action once. Answers come after calls, and the oracle's own after the others: both may end the episode. */
function actionsToTry(
  subject: EnvSubject,
  task: number,
  tools: readonly ToolDescription[],
  turns: number,
): Action[] {
  const ownWritten = new Set(subject.oracleActions.get(task)?.map(asWritten));
  const calls = tools.length > 0 ? fc.sample(validCalls(tools), { seed: task, numRuns: several }) : [];
  const all = [...calls, ...[...subject.oracleActions.values()].flat()];
  const different = new Map(all.map((action) => [asWritten(action), action]));
  const isOwn = ([written]: [string, Action]) => ownWritten.has(written);
  const own = [...different].filter(isOwn);
  const others = [...different].filter((each) => !isOwn(each));
  const rank = (each: [string, Action]) => (each[1].toolCalls.length > 0 ? 0 : 2) + Number(isOwn(each));
  // The last turn has no reply. Where not all fit before it, the oracle's own must be among those that do.
  return [...others.slice(0, Math.max(1, turns - 1 - own.length)), ...own]
    .sort((a, b) => rank(a) - rank(b))
    .map(([, action]) => action);
}

/** What the policy wrote, without the ids of its calls. */
function asWritten({ text, toolCalls }: Action): string {
  return JSON.stringify([text, toolCalls.map((call) => ({ ...call, id: '' }))]);
}

/** Of the rewards that nobody has weighed. */
function checkWeights({ rewards }: EnvSubject['definition']): void {
  const spans = Object.entries(rewards)
    .filter(([, { weight }]) => weight === 1)
    .map(([name, { range }]) => ({ name, range, span: range[1] - range[0] }))
    .filter(({ span }) => span > 0)
    .sort((a, b) => b.span - a.span);
  const [widest, narrowest] = [spans[0], spans.at(-1)];
  if (!widest || !narrowest || widest.span < drowning * narrowest.span) return;
  const shown = ({ name, range }: typeof widest) => `"${name}" in [${range.join(', ')}]`;
  const received = `${shown(widest)} beside ${shown(narrowest)}`;
  throw new Violation('WARN-10', 'rewards of weight 1 whose ranges are alike', received);
}

function checkRewards({ definition, totals }: EnvSubject): void {
  for (const [name, { weight }] of Object.entries(definition.rewards)) {
    const seen = totals.get(name) ?? new Set([0]);
    if (weight === 0 || seen.size > 1) continue;
    const expected = `episodes that differ in "${name}", whose weight is ${weight}`;
    throw new Violation('WARN-4', expected, `${[...seen]} in all of them`);
  }
}

/** Number of tasks that are looked for, of each split. */
const heldOut = 50;
/** Number of training tasks that are read, and the milliseconds that reading them may take: a task may be slow to make. */
const learned = 2_000;
const maxTime = 1_000;

/** @throws Violation for a task of two splits. */
async function checkSplits({ tasks }: EnvHandle<unknown>): Promise<void> {
  const textOf = async (split: Split, index: number) =>
    JSON.stringify(canonical(await tasks[split].get(index)));
  const held: { split: Split; texts: string[] }[] = [];
  for (const split of ['validation', 'test'] as const) {
    const texts: string[] = [];
    for (const index of spread(await tasks[split].length, heldOut)) texts.push(await textOf(split, index));
    held.push({ split, texts });
  }
  const wanted = new Set(held.flatMap(({ texts }) => texts));
  const found = new Set<string>();
  const end = performance.now() + maxTime;
  for (const index of wanted.size === 0 ? [] : spread(await tasks.train.length, learned)) {
    if (performance.now() > end) break;
    const text = await textOf('train', index);
    if (wanted.has(text)) found.add(text);
  }
  for (const { split, texts } of held) {
    const shared = texts.filter((text) => found.has(text));
    if (shared.length === 0) continue;
    const received = `${shared.length} of ${texts.length} tasks of ${split}, such as ${brief(JSON.parse(shared[0]!))}`;
    throw new Violation('WARN-9', `no task of ${split} in the training split`, received);
  }
}

/** @throws Violation for a split that its author names and that is empty. */
async function checkNamedSplits({ tasks, splits = [] }: EnvHandle<unknown>): Promise<void> {
  for (const split of splits) {
    if ((await tasks[split].length) > 0) continue;
    const others = splits.filter((other) => other !== split);
    const counts = await Promise.all(others.map(async (other) => `${await tasks[other].length} in ${other}`));
    throw new Violation(
      'WARN-12',
      `tasks in the split "${split}", which is named`,
      ['none', ...counts].join(', '),
    );
  }
}
