/** boundCall: turns a call that exceeds the bounds into a parse failure, before anything recurses into it or repeats it. */
import { type Action, isParseFailure, type ParseFailure } from '../protocol/action.ts';
import type { ToolCall } from '../protocol/message.ts';
import { copyTurnUsage } from '../protocol/turn-usage.ts';
import { argumentBounds, type JsonBounds, jsonMistake } from '../schemas/json-bounds.ts';
import { freezeJson } from './json-copies.ts';

/** Characters of a call's name and of its id. Each answer repeats both. */
export const maxNameLength = 256;

/** A copy of the call if its name, id and arguments are within the bounds. */
export function boundCall(call: ToolCall | ParseFailure): ToolCall | ParseFailure {
  if (!isParseFailure(call) && (call.name.length > maxNameLength || call.id.length > maxNameLength)) {
    const parseFailure = `The name and the id of a call have at most ${maxNameLength} characters.`;
    return { parseFailure, text: call.name.slice(0, maxNameLength) };
  }
  return cloneCall(call, argumentBounds);
}

/**
 * A copy of the call, whose arguments nobody can change: the action's record, the conversation and the hooks share them. A parse failure if
 * they exceed the bounds.
 */
export function cloneCall(call: ToolCall | ParseFailure, bounds: JsonBounds): ToolCall | ParseFailure {
  if (isParseFailure(call)) return { parseFailure: call.parseFailure, text: call.text };
  const { id, name, arguments: args } = call;
  try {
    return { id, name, arguments: freezeJson(args, bounds) };
  } catch {
    const wrong = jsonMistake(args, bounds) ?? unreadable;
    const text = `${name.slice(0, maxNameLength)} with ${wrong.received}`;
    return { parseFailure: `Give arguments of ${wrong.expected}.`, text };
  }
}

/** For arguments whose own toJSON gives what JSON does not have. */
const unreadable = { expected: 'JSON', received: 'a value that cannot be read' };

/** A copy of the action with each of its calls within the bounds. The policy may use its arrays of tokens again. */
export function boundAction(action: Action): Action {
  const bounded = { ...action, toolCalls: action.toolCalls.map(boundCall) };
  if (action.usage) bounded.usage = copyTurnUsage(action.usage);
  if (action.tokens) {
    const { prompt, action: sampled, logprobs } = action.tokens;
    bounded.tokens = { prompt: prompt.slice(), action: sampled.slice(), logprobs: logprobs.slice() };
  }
  return bounded;
}
