/** boundCall: turns a call that exceeds the bounds into a parse failure, before anything recurses into it or repeats it. */
import { type Action, isParseFailure, type ParseFailure } from '../protocol/action.ts';
import type { ToolCall } from '../protocol/message.ts';
import { argumentBounds, jsonMistake } from '../schemas/json-bounds.ts';

/** Characters of a call's name and of its id. Each answer repeats both. */
export const longestName = 256;

/** The call itself if its name, id and arguments are within the bounds. */
export function boundCall(call: ToolCall | ParseFailure): ToolCall | ParseFailure {
  if (isParseFailure(call)) return call;
  const { id, name, arguments: args } = call;
  if (name.length > longestName || id.length > longestName) {
    const parseFailure = `The name and the id of a call have at most ${longestName} characters.`;
    return { parseFailure, text: name.slice(0, longestName) };
  }
  const wrong = jsonMistake(args, argumentBounds);
  if (!wrong) return call;
  const parseFailure = `Give arguments of ${wrong.expected}.`;
  return { parseFailure, text: `${name} with ${wrong.received}` };
}

/** The action with each of its calls within the bounds. */
export function boundAction(action: Action): Action {
  if (action.toolCalls.every((call) => boundCall(call) === call)) return action;
  return { ...action, toolCalls: action.toolCalls.map(boundCall) };
}
