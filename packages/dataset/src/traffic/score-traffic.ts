/** scoreTraffic: the scores of the conversations of each task, and which of them has the best answer. */
import { ToolEnvError } from '@toolenv/core';
import { conversationText, firstAnswer } from './conversation.ts';
import type { ReadTraffic } from './read-traffic.ts';
import { precedes, type SeenConversation, type SeenTask } from './task-table.ts';
import type { TrafficOptions } from './traffic-options.ts';

/** Conversations that are scored at a time. */
const atOnce = 64;

export interface Scores {
  scored: number;
  notScored: number;
  /** Values with the best first, and the conversation with the best value that has an answer. */
  of: Map<SeenTask, { values: number[]; best?: SeenConversation; bestValue: number }>;
}

/** Scores the conversations of the tasks, each in the split of its task. Throws ToolEnvError `bug.score` for a score that is no number. */
export async function scoreTraffic(
  { table, textsOf }: ReadTraffic,
  kept: ReadonlySet<SeenTask>,
  { score, signal = new AbortController().signal, onProgress = () => {} }: TrafficOptions,
): Promise<Scores> {
  const scores: Scores = { scored: 0, notScored: 0, of: new Map() };
  const all = table.conversations.filter(({ task, split }) => kept.has(task) && split === task.first.split);
  const report = (done: number) =>
    onProgress({ stage: 'scoring', done, total: all.length, conversations: all.length });
  for (let from = 0; from < all.length; from += atOnce) {
    report(from);
    const some = all.slice(from, from + atOnce);
    const results = await Promise.all(
      some.map(async (seen) => {
        signal.throwIfAborted();
        const texts = await textsOf(seen);
        const value = await score!({ ...texts, text: conversationText(texts) }, { signal });
        return { seen, value, hasAnswer: firstAnswer(texts) !== undefined };
      }),
    );
    for (const result of results) addScore(scores, result);
  }
  report(all.length);
  for (const { values } of scores.of.values()) values.sort((a, b) => b - a);
  return scores;
}

function addScore(
  scores: Scores,
  { seen, value, hasAnswer }: { seen: SeenConversation; value: number | null; hasAnswer: boolean },
): void {
  if (value === null) {
    scores.notScored += 1;
    return;
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    const message = `The score of a conversation is ${typeof value === 'number' ? value : typeof value}: return a finite number, or null for "not scored".`;
    throw new ToolEnvError('bug.score', message);
  }
  scores.scored += 1;
  const of = scores.of.get(seen.task) ?? { values: [], bestValue: Number.NEGATIVE_INFINITY };
  scores.of.set(seen.task, of);
  of.values.push(value);
  if (!hasAnswer || value < of.bestValue) return;
  if (value === of.bestValue && of.best && !precedes(seen, of.best)) return;
  of.best = seen;
  of.bestValue = value;
}
