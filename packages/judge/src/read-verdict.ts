/** Reads the verdicts of a judge, strictly: what is not exactly as asked is no verdict. */
import type { Action } from '@toolenv/core';
import type { AskedQuestion } from './question.ts';
import { type Scale, scoreOf } from './scale.ts';

/** A verdict on each judged text. JSON values. */
export interface Verdict {
  /** As the judge wrote them. */
  verdicts: string[];
  /** Their scores on the scale. */
  scores: number[];
  /** What the judge wrote before them, cut. */
  reason: string;
}

/** Characters. A longer reply is not read. */
const maxReplyLength = 200_000;
const maxReasonLength = 2000;

/** The verdicts of a reply, or what is wrong with it, without its words: a server may repeat in them what it was sent. */
export function readVerdict(
  { text, toolCalls, stopReason }: Action,
  { lines }: Pick<AskedQuestion, 'lines'>,
  scale: Scale,
): Verdict | { problem: string } {
  if (stopReason === 'length') return { problem: 'its reply was cut off before its end' };
  if (toolCalls.length > 0) return { problem: 'it called a tool' };
  if (text.length > maxReplyLength) return { problem: `its reply has ${text.length} characters` };
  const written = text.trimEnd().split(/\r?\n/);
  const head = written.slice(0, Math.max(0, written.length - lines.length));
  const tail = written.slice(head.length).map((line) => line.trim());
  const isVerdict = (line: string) => lines.some((each) => line.trim().startsWith(each));
  if (head.some(isVerdict)) return { problem: 'it gave more verdicts than were asked for' };
  const verdicts: string[] = [];
  const scores: number[] = [];
  for (const [n, line] of lines.entries()) {
    const given = tail[n] ?? '';
    if (!given.startsWith(`${line} `)) return { problem: 'it did not end with the lines of its verdicts' };
    const verdict = given.slice(line.length + 1).trim();
    const score = scoreOf(verdict, scale);
    if (score === undefined) return { problem: 'it gave a verdict that is not on the scale' };
    verdicts.push(verdict);
    scores.push(score);
  }
  const reason = head.join('\n').trim();
  return {
    verdicts,
    scores,
    reason: reason.length > maxReasonLength ? `${reason.slice(0, maxReasonLength)}…` : reason,
  };
}
