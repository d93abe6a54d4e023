/** dispatch: validates one turn's tool calls, executes them in parallel, and limits time and length. Mistakes are returned as data. */

import { Deadline } from '../boundary/deadline.ts';
import { copyJson } from '../boundary/json-copies.ts';
import { readToolResult } from '../boundary/read-tool-result.ts';
import { isParseFailure, type ParseFailure } from '../protocol/action.ts';
import type { EnvLimits, ModelMistake, ToolCallRecord } from '../protocol/env.ts';
import { isBug, isInfrastructure, messageOf, ToolEnvError } from '../protocol/errors.ts';
import type { ContentBlock, ToolCall } from '../protocol/message.ts';
import type { CallProgress, Tool, ToolResult } from '../protocol/tool.ts';
import { argumentBounds } from '../schemas/json-bounds.ts';
import { boundText } from './bound-text.ts';
import { CallContext } from './call-context.ts';
import { callMistake, invalidArguments, mistakeText } from './call-mistake.ts';
import { callTime } from './call-time.ts';
import { ProgressReports } from './progress-reports.ts';

/** Limits and place of the calls of a turn. `firstCallIndex` numbers the calls of the episode. */
export interface DispatchOptions {
  limits: EnvLimits;
  episodeId: string;
  seed: number;
  firstCallIndex: number;
  signal?: AbortSignal | undefined;
  /** Called with what tools say of the progress of their calls. What it throws ends the turn. */
  onProgress?: ((report: CallProgress) => void) | undefined;
}

/**
 * Executes `calls` on `tools` concurrently under one deadline, or that of a tool if it is earlier. A tool that fails, hangs or returns a malformed result stops
 * the other calls of the turn, even if they ignore their signal.
 * @throws ToolEnvError `infrastructure.tool_failed` if a tool throws, `infrastructure.tool_timeout` if a tool hangs; a
 *   tool's own `infrastructure.*` and `bug.*` errors unchanged.
 * @throws ToolEnvError `usage.tool_timeout` for a tool whose own limit is not a number above 0.
 * @throws The reason of `options.signal` when it aborts.
 */
export async function dispatch(
  calls: (ToolCall | ParseFailure)[],
  tools: readonly Tool[],
  options: DispatchOptions,
): Promise<ToolCallRecord[]> {
  options.signal?.throwIfAborted();
  if (calls.length === 0) return [];
  // Before the deadline starts: compiling a schema may take a while and does not count against the tool.
  const mistakes = calls.map((call, index) => callMistake(call, index, tools, options.limits));
  const unanswered = new Set<ToolCall>();
  const deadline = new Deadline({
    after: options.limits.toolTimeout,
    parent: options.signal,
    reason: () =>
      timeout(
        [...unanswered].map(({ name }) => name),
        options.limits.toolTimeout,
        "raise the environment's toolTimeout",
      ),
  });
  const turn: Turn = { options, deadline, unanswered };
  try {
    return await Promise.all(calls.map((call, index) => answer(call, index, mistakes[index], tools, turn)));
  } catch (error) {
    deadline.abort(error);
    throw error;
  } finally {
    deadline.clear();
  }
}

/** Shared by the calls of one turn. */
interface Turn {
  options: DispatchOptions;
  deadline: Deadline;
  unanswered: Set<ToolCall>;
}

async function answer(
  call: ToolCall | ParseFailure,
  index: number,
  mistake: ModelMistake | undefined,
  tools: readonly Tool[],
  turn: Turn,
): Promise<ToolCallRecord> {
  const { limits, firstCallIndex } = turn.options;
  if (mistake || isParseFailure(call)) return refused(call, mistake!, limits, 0);
  const tool = tools.find(({ name }) => name === call.name)!;
  const start = performance.now();
  const result = await execute(tool, call, firstCallIndex + index, turn);
  const milliseconds = performance.now() - start;
  if (result.mistake) return refused(call, invalidArguments(tool, result.mistake), limits, milliseconds);
  return { call, result, text: textOf(result, limits.maxToolCharacters), milliseconds };
}

async function execute(tool: Tool, call: ToolCall, callIndex: number, turn: Turn): Promise<ToolResult> {
  const { options, unanswered } = turn;
  const deadline = deadlineOf(tool, turn);
  const reports = reportsOf(tool, callIndex, turn);
  unanswered.add(call);
  try {
    const context = new CallContext(options, callIndex, deadline, reports?.add);
    // A tool that changes its arguments does not change the record of the call.
    const args = copyJson(call.arguments, argumentBounds) as ToolCall['arguments'];
    const result = readToolResult(await deadline.waitFor(() => tool.execute(args, context)));
    unanswered.delete(call);
    if (reports) {
      reports.end();
      deadline.signal.throwIfAborted();
    }
    return result;
  } catch (error) {
    if (deadline.signal.aborted) throw deadline.signal.reason;
    if (isInfrastructure(error) || isBug(error)) throw error;
    const message = `Tool "${tool.name}" failed: ${messageOf(error)}`;
    throw new ToolEnvError('infrastructure.tool_failed', message, { cause: error });
  } finally {
    reports?.end();
    if (deadline !== turn.deadline) deadline.clear();
  }
}

/** The turn's, or the tool's own if it is earlier. */
function deadlineOf(tool: Tool, { deadline, options: { limits } }: Turn): Deadline {
  const after = callTime(tool, limits.toolTimeout);
  if (after >= limits.toolTimeout) return deadline;
  const reason = () => timeout([tool.name], after, "raise the tool's timeout");
  return new Deadline({ after, parent: deadline.signal, reason });
}

function reportsOf(
  tool: Tool,
  callIndex: number,
  { options: { onProgress, episodeId }, deadline }: Turn,
): ProgressReports | undefined {
  if (!onProgress) return undefined;
  return new ProgressReports((report) => {
    try {
      onProgress({ ...report, tool: tool.name, episodeId, callIndex });
    } catch (error) {
      // The fault is the listener's, not the tool's.
      deadline.abort(error);
    }
  });
}

/**
 * Runs work that is a call of the tool `name`, though no policy has called it: a server's tool that takes the answer.
 * @throws ToolEnvError `infrastructure.tool_timeout`; the reason of the signal; what the work throws.
 */
export async function withToolTimeout<T>(
  name: string,
  { toolTimeout, signal }: { toolTimeout: number; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const reason = () => timeout([name], toolTimeout, "raise the environment's toolTimeout");
  const deadline = new Deadline({ after: toolTimeout, parent: signal, reason });
  try {
    return await deadline.race(work);
  } finally {
    deadline.clear();
  }
}

function timeout(tools: readonly string[], milliseconds: number, remedy: string): ToolEnvError {
  const names = [...new Set(tools.map((name) => `"${name}"`))].join(', ');
  const late = `Tool ${names} did not answer within ${milliseconds / 1000} s`;
  return new ToolEnvError('infrastructure.tool_timeout', `${late}: ${remedy} or fix the tool.`);
}

function refused(
  call: ToolCall | ParseFailure,
  mistake: ModelMistake,
  { maxToolCharacters }: EnvLimits,
  milliseconds: number,
): ToolCallRecord {
  return { call, mistake, text: boundText(mistakeText(mistake), maxToolCharacters), milliseconds };
}

/** The blocks as one text, or the data of a result without blocks. Each block is cut before they are joined, so that a long result is not copied. */
function textOf({ content, structuredContent, isError }: ToolResult, limit: number): string {
  let text = isError ? 'Error: ' : '';
  let length = text.length;
  const data = content.length === 0 && structuredContent !== undefined;
  const blocks = data ? [{ type: 'text', text: JSON.stringify(structuredContent) }] : content;
  for (let i = 0; i < blocks.length; i++) {
    const block = textOfBlock(blocks[i]!);
    const lineBreak = i === 0 ? '' : '\n';
    text += lineBreak + block.slice(0, limit + 1);
    length += lineBreak.length + block.length;
  }
  return boundText(text, limit, length);
}

/** A block as text: its own text, or its type in brackets, and what a link says of its resource. */
function textOfBlock(block: ContentBlock): string {
  if (block.type === 'text') return block.text as string;
  if (block.type === 'resource_link') {
    const { uri, name, description } = block;
    return [`[resource_link ${uri}] ${name}`, description]
      .filter((part) => typeof part === 'string')
      .join(': ');
  }
  const { text } = Object(block.type === 'resource' ? block.resource : undefined) as { text?: unknown };
  return typeof text === 'string' ? text : `[${block.type}]`;
}
