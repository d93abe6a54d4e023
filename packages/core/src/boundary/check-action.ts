/** checkAction: whether what a policy has returned has the form that environments and trainers rely on. */
import { isTurnUsage } from '../protocol/turn-usage.ts';
import { describe, type Violation } from '../protocol/violation.ts';

const stopReasons = new Set<unknown>(['stop', 'length', 'tool_call']);

export function checkAction(given: unknown): Violation | undefined {
  const { text, reasoning, toolCalls, stopReason, tokens, usage } = Object(given);
  if (typeof text !== 'string') return malformed(`the text of the action is ${describe(text)}`);
  if (reasoning !== undefined && typeof reasoning !== 'string')
    return malformed(`the reasoning of the action is ${describe(reasoning)}`);
  if (!stopReasons.has(stopReason)) return malformed(`the stopReason is ${describe(stopReason)}`);
  if (!Array.isArray(toolCalls)) return malformed(`the toolCalls are ${describe(toolCalls)}`);
  const index = toolCalls.findIndex((call) => !isCall(Object(call)));
  if (index >= 0) return malformed(`call ${index} is neither a tool call nor a ParseFailure`);
  if (usage !== undefined && !isTurnUsage(usage))
    return malformed('the usage is not made of whole numbers, a cost and a time from 0 up');
  return tokens === undefined ? undefined : checkTokens(Object(tokens));
}

/** Whether the value is a tool call or a ParseFailure. */
function isCall(call: Record<string, unknown>): boolean {
  if (typeof call.parseFailure === 'string') return typeof call.text === 'string';
  return isToolCall(call);
}

export function isToolCall(call: Record<string, unknown>): boolean {
  const { id, name, arguments: args } = call;
  return typeof id === 'string' && typeof name === 'string' && Object(args) === args && !Array.isArray(args);
}

/** How far a log-probability may be above 0. */
const roundingError = 1e-3;

function checkTokens({ prompt, action, logprobs }: Record<string, unknown>): Violation | undefined {
  const areArrays =
    prompt instanceof Int32Array && action instanceof Int32Array && logprobs instanceof Float32Array;
  if (!areArrays) return misfit('prompt and action must be Int32Array, logprobs Float32Array');
  if (prompt.length === 0 || action.length === 0) return misfit('the prompt or the action has no token');
  if (logprobs.length !== action.length) {
    return misfit(`there are ${logprobs.length} log-probabilities for ${action.length} tokens`);
  }
  for (const ids of [prompt, action]) {
    const negative = ids.findIndex((id) => id < 0);
    if (negative >= 0) return misfit(`a token is ${ids[negative]}`);
  }
  for (const logprob of logprobs) {
    if (!Number.isFinite(logprob) || logprob > roundingError)
      return misfit(`a log-probability is ${logprob}`);
  }
  return undefined;
}

function malformed(problem: string): Violation {
  return { rule: 'POL-2', problem };
}

function misfit(problem: string): Violation {
  return { rule: 'POL-3', problem };
}
