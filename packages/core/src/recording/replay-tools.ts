/** Tools that answer from a recording, exactly, and fail when they are asked for anything else; and a policy that does so. */
import { stat } from 'node:fs/promises';
import { untilAborted } from '../boundary/deadline.ts';
import { notRecordable } from '../env/tool-tap.ts';
import { type JsonLine, type ReadOptions, readJsonLines } from '../files/jsonl.ts';
import { ToolEnvError } from '../protocol/errors.ts';
import { excerpt } from '../protocol/excerpt.ts';
import type { JsonSchema } from '../protocol/json-schema.ts';
import type { Tool, ToolContext, ToolResult } from '../protocol/tool.ts';
import { leaveOutUnusable } from '../schemas/json-schema.ts';
import { tryObject } from '../schemas/json-text.ts';
import { recordedCall, recordedTurn, recordingHeader } from '../schemas/wire-schemas.ts';
import { describeDifferences, differences } from './json-difference.ts';
import { readRecord } from './read-record.ts';
import { ReplayedTurns } from './replay-turns.ts';
import { asksServer, type PolicyIdentity, type RecordablePolicy, type RunTap } from './run-tap.ts';
import {
  type CallKey,
  canonical,
  divergence,
  faceOf,
  type RecordedCall,
  type RecordingHeader,
  rethrow,
  Takes,
} from './tool-recording.ts';
import type { RecordedTurn } from './turn-recording.ts';

/** The tools of a recording. */
export interface Replay {
  /** The recorded tools. No network and no server is behind them. */
  tools: Tool[];
  /** @throws ToolEnvError `bug.replay_divergence` if a recorded call was not made; to be called when the run is over. */
  finish(): void;
}

/**
 * Reads a recording of `recordTools`. Each call is answered with the recorded result of the same episode, take and call
 * index; redacted parts of its arguments match anything. A call that its caller gave up waits until it is given up again.
 * @throws ToolEnvError `usage.broken_record` if a line is not of a recording, `usage.record_version` if it is of another
 *   version. The tools throw `bug.replay_divergence` with the differences, which ends the run: replayed episodes must have
 *   the ids of the recorded episodes (in a rollout: its seed, and the group and sample of the episode), and make the same
 *   calls in the same order.
 */
export async function replayTools(file: string, options: ReadOptions = {}): Promise<Replay> {
  return openReplay(file, options);
}

/**
 * A tap for `openEnv` that answers the calls of an environment's tools, and the turns of a policy that asked a server, from a recording of
 * `recordEnv`. The tools themselves are not made: their plugins are not loaded, and no server or index is started.
 * @throws ToolEnvError As {@link replayTools} does. A role that the recording lacks throws `usage.other_recording`.
 */
export async function replayEnv(file: string, options: ReadOptions = {}): Promise<RunTap> {
  const { header, tools, turns, finish } = await openReplay(file, options);
  const asked: (string | undefined)[] = [];
  const toolsOf = (role: string | undefined) => {
    asked.push(role);
    return tools.filter((_, index) => header.tools[index]!.role === role);
  };
  return {
    async tool(role) {
      const [tool] = toolsOf(role);
      if (tool) return tool;
      const message = `${file} has no tool of the role "${role}": it was recorded in another environment; record again.`;
      throw new ToolEnvError('usage.other_recording', message);
    },
    async source() {
      const lease = { tools: toolsOf(undefined), instructions: header.instructions };
      return { acquire: async () => ({ ...lease, release: async () => {} }), close: async () => {} };
    },
    policy: (identity, open) => replayPolicy({ file, header, turns }, identity, open),
    opened(env) {
      if (asked.length === 0 && !header.policy) throw notRecordable(env);
    },
    finish: async () => finish(),
  };
}

async function replayPolicy(
  { file, header, turns }: { file: string; header: RecordingHeader; turns: ReplayedTurns },
  identity: PolicyIdentity,
  open: () => Promise<RecordablePolicy>,
): Promise<RecordablePolicy> {
  const refuse = (why: string) => new ToolEnvError('usage.other_recording', `${file} ${why}`);
  if (!header.policy) {
    const policy = await open();
    if (!asksServer(policy)) return policy;
    await policy.close?.();
    throw refuse(`has no turns of ${policy.spec.name}, which would be asked: record again.`);
  }
  const { spec, ...recorded } = header.policy;
  const found = differences(recorded, canonical(identity));
  if (found.length > 0)
    throw refuse(
      `was recorded with another policy. Record again, or name that policy:\n${describeDifferences(found)}`,
    );
  return turns.policy(spec);
}

async function openReplay(
  file: string,
  options: ReadOptions,
): Promise<Replay & { header: RecordingHeader; turns: ReplayedTurns }> {
  const { header, calls, turns } = await read(file, options);
  const takes = new Takes();
  const made = new Set<RecordedCall>();

  const find = (tool: string, args: unknown, context: ToolContext): RecordedCall => {
    const key = takes.next(context);
    const episode = calls.get(takeName(key)) ?? new Map<number, RecordedCall>();
    const recorded = episode.get(key.call);
    const [skipped] = [...episode.values()].filter((call) => call.call < key.call && !made.has(call));
    const asked = canonical(args);
    const said = [];
    if (skipped) said.push(`call ${skipped.call} was not made: recorded ${describe(skipped)}`);
    if (!recorded) said.push(`recorded nothing, now ${describe({ tool, arguments: asked })}`);
    else if (recorded.tool !== tool)
      said.push(`recorded ${describe(recorded)}, now ${describe({ tool, arguments: asked })}`);
    else {
      const found = differences(recorded.arguments, asked);
      if (found.length > 0) said.push(`other arguments of "${tool}":\n${describeDifferences(found)}`);
    }
    if (!recorded || said.length > 0) throw divergence(`${file}: ${describeKey(key)}`, said.join('\n'));
    made.add(recorded);
    return recorded;
  };

  return {
    header,
    turns,
    tools: header.tools.map((face) => {
      // As the recorded tool may have done.
      leaveOutUnusable(face.inputSchema);
      return {
        ...faceOf(face),
        execute: async (args, context) => answer(find(face.name, args, context), context),
      };
    }),
    finish() {
      const missing = [...calls.values()]
        .flatMap((take) => [...take.values()])
        .filter((call) => !made.has(call))
        .map((call) => `${describeKey(call)}: ${describe(call)}`);
      refuseMissing(file, 'calls', missing);
      refuseMissing(file, 'turns', turns.missing);
    },
  };
}

async function read(
  file: string,
  options: ReadOptions,
): Promise<{
  header: RecordingHeader;
  calls: Map<string, Map<number, RecordedCall>>;
  turns: ReplayedTurns;
}> {
  const found = await stat(file).catch(() => undefined);
  // Reading a pipe would wait for a writer.
  if (!found?.isFile()) {
    const why = found ? `${file} is not a regular file` : `There is no recording ${file}`;
    throw new ToolEnvError('usage.broken_record', `${why}: record into it first.`);
  }
  let header: RecordingHeader | undefined;
  const calls = new Map<string, Map<number, RecordedCall>>();
  const turns = new ReplayedTurns(file);
  for await (const line of readJsonLines(file, options)) {
    if (!header) {
      header = parse(line, recordingHeader) as RecordingHeader;
      continue;
    }
    if (tryObject(line.text)?.turn !== undefined) {
      turns.add(parse(line, recordedTurn) as RecordedTurn);
      continue;
    }
    const call = parse(line, recordedCall) as RecordedCall;
    const name = takeName(call);
    const take = calls.get(name) ?? new Map<number, RecordedCall>();
    calls.set(name, take.set(call.call, call));
  }
  if (!header) throw new ToolEnvError('usage.broken_record', `${file} is empty: record into it first.`);
  return { header, calls, turns };
}

function parse(line: JsonLine, schema: JsonSchema): unknown {
  return readRecord(line, { kind: 'recording', schema, remedy: 'Is it a recording?' });
}

async function answer({ result, error }: RecordedCall, { signal }: ToolContext): Promise<ToolResult> {
  // A copy, because the caller may change it.
  if (result) return structuredClone(result);
  if (error) rethrow(error);
  return untilAborted(signal, () => new Promise(() => {}));
}

function takeName({ episode, take }: CallKey): string {
  return JSON.stringify([episode, take]);
}

function describeKey({ episode, take, call }: CallKey): string {
  return `episode ${episode}${take > 0 ? `, take ${take}` : ''}, call ${call}`;
}

function describe({ tool, arguments: args }: Pick<RecordedCall, 'tool' | 'arguments'>): string {
  return `${tool}(${excerpt(JSON.stringify(args))})`;
}

function refuseMissing(file: string, what: string, missing: readonly string[]): void {
  if (missing.length === 0) return;
  const first = missing.slice(0, 5).map((line) => `  ${line}`);
  const more = missing.length > 5 ? [`  and ${missing.length - 5} more`] : [];
  const said = [`recorded ${what} that were not made: ${missing.length}`, ...first, ...more];
  throw divergence(file, said.join('\n'));
}
