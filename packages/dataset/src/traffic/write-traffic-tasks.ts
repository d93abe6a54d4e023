/** writeTrafficTasks: recorded conversations as the tasks of an environment, in a file for each split. */
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ToolEnvError } from '@toolenv/core';
import { ensureDir, withDiskErrors } from '@toolenv/core/files';
import { jsonWithoutSecrets } from '@toolenv/core/secrets';
import { splitByTime } from './assign-splits.ts';
import { firstAnswer, firstMessages, type SpokenMessage } from './conversation.ts';
import { KeptSignatures } from './near-duplicates.ts';
import { type DroppedConversations, type ReadTraffic, readTraffic } from './read-traffic.ts';
import { type Scores, scoreTraffic } from './score-traffic.ts';
import { precedes, type SeenTask, splits } from './task-table.ts';
import { type TrafficOptions, trafficSchema } from './traffic-options.ts';

/** A task, as a line of a file has it. */
export interface TrafficTask {
  /** Follows from the messages and the tools: the same task has the same id in another file. */
  id: string;
  /** The first messages: those of the system and the user, and a greeting of the assistant before them. */
  messages: { role: 'system' | 'user' | 'assistant'; content: string }[];
  /** As they were recorded; absent without tools. */
  tools?: Record<string, unknown>[];
  /** When it was first given, in ISO 8601. */
  time?: string;
  /** Conversations of its split that began with it. */
  conversations: number;
  /** Their scores, the best first. Absent without a score. */
  scores?: number[];
  /** The answer of the conversation with the best score. */
  reference?: string;
}

/** A file of tasks. */
export interface SplitSummary {
  file: string;
  tasks: number;
  /** Conversations that began with these tasks. */
  conversations: number;
  /** Times of the first and the last of these conversations. */
  from?: string;
  to?: string;
}

export interface TrafficSummary {
  /** Lines that were read. */
  conversations: number;
  /** Conversations that were not looked at further, by the reason. */
  dropped: DroppedConversations;
  /** Conversations whose task had been given before. */
  duplicates: number;
  /** Tasks that are too similar to another. */
  nearDuplicates: number;
  /** Conversations with a score, and those for which the score was `null`. Present with a score. */
  scored?: number;
  notScored?: number;
  /** Without those that have no task. */
  splits: { [Name in (typeof splits)[number]]?: SplitSummary };
}

/**
 * Reads recorded conversations, and writes their first messages and tools as tasks: each task once, and in one split only. The result does not depend on the order
 * of the lines. A task that occurs in several splits stays in the earliest of `train`, `validation` and `test`, with the conversations of that split.
 *
 * Memory holds about 500 bytes for each conversation, and 256 more for each task with `nearDuplicates`; texts wait in a temporary file.
 * @throws ToolEnvError `usage.bad_option`; `usage.folder` if `out` has files; `usage.missing_file`, `usage.broken_file`, `usage.broken_record` for what was
 *   captured; `usage.no_tasks`; `usage.redaction`; `infrastructure.disk`. Also what `score` throws, and the signal's reason. Then `out` is not written.
 */
export async function writeTrafficTasks(options: TrafficOptions): Promise<TrafficSummary> {
  const { out, splitBy = trafficSchema.properties.splitBy.default } = options;
  const { validation = trafficSchema.properties.validation.default } = options;
  const { test = trafficSchema.properties.test.default } = options;
  if (validation + test >= 1) {
    const message = `The splits validation (${validation}) and test (${test}) leave nothing to train: choose shares whose sum is below 1.`;
    throw new ToolEnvError('usage.bad_option', message);
  }
  await refuseUsed(out);
  const traffic = await readTraffic(options, { splitBy, validation, test });
  if (splitBy === 'time') splitByTime(traffic.table.conversations, { validation, test });
  const { kept, nearDuplicates } = keptTasks(traffic, options.nearDuplicates);
  if (kept.length === 0) throw noTasks(traffic.dropped, options.captured);
  const scores = options.score && (await scoreTraffic(traffic, new Set(kept), options));
  const partial = `${resolve(out)}.partial`;
  try {
    await rm(partial, { recursive: true, force: true });
    await ensureDir(partial);
    const files = await writeSplits(partial, { out, kept, traffic, scores });
    options.signal?.throwIfAborted();
    await withDiskErrors(out, () => rename(partial, out));
    return {
      conversations: traffic.conversations,
      dropped: traffic.dropped,
      duplicates: traffic.table.conversations.length - traffic.table.tasks.length,
      nearDuplicates,
      ...(scores && { scored: scores.scored, notScored: scores.notScored }),
      splits: files,
    };
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
}

/** An empty folder may be there. */
async function refuseUsed(out: string): Promise<void> {
  const found = await stat(out).catch(() => undefined);
  if (!found) return;
  if (found.isDirectory() && (await readdir(out)).length === 0) return;
  const what = found.isDirectory() ? 'has files' : 'is a file';
  throw new ToolEnvError('usage.folder', `${out} ${what}: choose a new folder, or remove it.`);
}

/** The tasks that are no near-duplicates of a task before them, in the order of their splits and times. */
function keptTasks(
  { table }: ReadTraffic,
  threshold: number | undefined,
): { kept: SeenTask[]; nearDuplicates: number } {
  const tasks = table.tasks.sort(({ first: one }, { first: other }) => (precedes(one, other) ? -1 : 1));
  if (threshold === undefined) return { kept: tasks, nearDuplicates: 0 };
  const signatures = new KeptSignatures(threshold);
  const kept = tasks.filter(({ signature, scope }) => signatures.add(signature!, scope));
  return { kept, nearDuplicates: tasks.length - kept.length };
}

async function writeSplits(
  partial: string,
  {
    out,
    kept,
    traffic,
    scores,
  }: { out: string; kept: SeenTask[]; traffic: ReadTraffic; scores: Scores | undefined },
): Promise<TrafficSummary['splits']> {
  const counts = new Map<SeenTask, { conversations: number; from: number; to: number }>();
  for (const { task, split, time } of traffic.table.conversations) {
    if (split !== task.first.split) continue;
    const { conversations, to } = counts.get(task) ?? { conversations: 0, to: time };
    counts.set(task, { conversations: conversations + 1, from: task.first.time, to: Math.max(to, time) });
  }
  const summaries: TrafficSummary['splits'] = {};
  for (const [index, name] of splits.entries()) {
    const tasks = kept.filter(({ first }) => first.split === index);
    if (tasks.length === 0) continue;
    const all = tasks.map((task) => counts.get(task)!);
    async function* lines() {
      for (const [n, task] of tasks.entries())
        yield `${jsonWithoutSecrets(await taskLine(task, all[n]!.conversations, traffic, scores))}\n`;
    }
    const file = join(partial, `${name}.jsonl`);
    await withDiskErrors(file, () => writeFile(file, lines()));
    const from = all.reduce((least, each) => Math.min(least, each.from), Number.POSITIVE_INFINITY);
    const to = all.reduce((most, each) => Math.max(most, each.to), Number.NEGATIVE_INFINITY);
    summaries[name] = {
      file: join(out, `${name}.jsonl`),
      tasks: tasks.length,
      conversations: all.reduce((sum, { conversations }) => sum + conversations, 0),
      ...(Number.isFinite(from) && Number.isFinite(to) && { from: isoTime(from), to: isoTime(to) }),
    };
  }
  return summaries;
}

async function taskLine(
  task: SeenTask,
  conversations: number,
  { textsOf }: ReadTraffic,
  scores: Scores | undefined,
): Promise<TrafficTask> {
  const { tools, messages } = await textsOf(task.first);
  const { best, values } = scores?.of.get(task) ?? {};
  const reference = best && firstAnswer(await textsOf(best));
  return {
    id: task.id,
    messages: firstMessages({ messages }).map(({ role, content }: SpokenMessage) => ({
      role: role as 'user',
      content,
    })),
    ...(tools.length > 0 && { tools }),
    ...(Number.isFinite(task.first.time) && { time: isoTime(task.first.time) }),
    conversations,
    ...(values && { scores: values }),
    ...(reference !== undefined && { reference }),
  };
}

function isoTime(time: number): string {
  return new Date(time).toISOString();
}

function noTasks(dropped: DroppedConversations, captured: readonly string[]): ToolEnvError {
  const files = captured.join(', ');
  const { withoutUser, withoutTime, withoutQuestion, byRedaction } = dropped;
  const why = [
    [withoutUser, 'no line names its user: record it with --user-header, or split by time or task'],
    [withoutTime, 'no line has a time: record the conversations anew, or split by user or task'],
    [byRedaction, 'the redaction drops every conversation'],
    [withoutQuestion, 'no user says anything'],
  ].find(([count]) => count !== 0)?.[1];
  const message = `${files} gives no tasks: ${why ?? 'it has no whole line. Give a file that toolenv capture has written'}.`;
  return new ToolEnvError('usage.no_tasks', message);
}
