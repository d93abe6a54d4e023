/** Reads OpenEnv actions. What the model may have written wrongly becomes an Action that the environment answers. */
import type { Action, JsonSchema } from '@toolenv/core';
import { bigintsAs, isObject } from '@toolenv/core/schemas';
import { FrameError } from './frame.ts';

/** The tool with which clients that know only tools give the policy's answer. */
export const answerName = 'episode_answer';

export type OpenEnvAction =
  | { type: 'list_tools' }
  | { type: 'call_tool'; name: string; action: Action }
  | { type: 'answer'; action: Action }
  | { type: 'turn'; action: Action };

/** OpenEnv's action for tools, and `turn`: a whole turn of a policy, with any number of calls or with an answer. */
export const actionSchema: JsonSchema = {
  // verifiers knows environments of tools by this title.
  title: 'CallToolAction',
  type: 'object',
  properties: {
    type: { enum: ['call_tool', 'list_tools', 'turn'], default: 'call_tool' },
    tool_name: { type: 'string', description: 'name of the tool; episode_answer gives the answer' },
    arguments: { type: 'object', default: {}, description: 'arguments of the tool' },
    text: { type: 'string', description: 'text of a turn; without calls, it is the answer' },
    tool_calls: {
      type: 'array',
      description: 'calls of a turn',
      items: {
        type: 'object',
        properties: { id: { type: 'string' }, name: { type: 'string' }, arguments: { type: 'object' } },
        required: ['name'],
      },
    },
    stop_reason: {
      enum: ['stop', 'length', 'tool_call'],
      description: 'why a turn ended; length: it was cut off',
    },
    metadata: { type: 'object', default: {} },
  },
  required: ['tool_name'],
};

/**
 * @param step Number of the step, for the ids of calls.
 * @throws FrameError for a malformed turn: only programs write turns.
 */
export function readAction(data: Record<string, unknown>, step: number): OpenEnvAction {
  const { type = 'call_tool', tool_name: name, arguments: args = {} } = data;
  if (type === 'list_tools') return { type };
  if (type === 'turn') return { type, action: readTurn(data, step) };
  if (type !== 'call_tool' || typeof name !== 'string' || !isObject(args)) {
    const why = 'expected {"type": "call_tool", "tool_name": "…", "arguments": {…}}';
    const toolCalls = [{ parseFailure: why, text: jsonOf(data) }];
    return { type: 'turn', action: { text: '', toolCalls, stopReason: 'stop' } };
  }
  if (name === answerName && typeof args.text === 'string') {
    return { type: 'answer', action: { text: args.text, toolCalls: [], stopReason: 'stop' } };
  }
  const toolCalls = [{ id: `call-${step}`, name, arguments: args }];
  return { type, name, action: { text: '', toolCalls, stopReason: 'tool_call' } };
}

function jsonOf(value: unknown): string {
  return JSON.stringify(bigintsAs('text', value));
}

function readTurn(data: Record<string, unknown>, step: number): Action {
  const { text = '', tool_calls: calls = [], stop_reason: given } = data;
  if (typeof text !== 'string' || !Array.isArray(calls)) {
    throw new FrameError('VALIDATION_ERROR', 'A turn has a text and a list of tool_calls.');
  }
  const toolCalls = calls.map((call: unknown, index) => {
    const { id = `call-${step}-${index}`, name, arguments: args = {} } = Object(call);
    if (typeof id === 'string' && typeof name === 'string' && isObject(args)) {
      return { id, name, arguments: args };
    }
    return { parseFailure: 'expected {"name": "…", "arguments": {…}}', text: jsonOf(call) };
  });
  const stopReason = given ?? (toolCalls.length > 0 ? 'tool_call' : 'stop');
  if (stopReason === 'stop' || stopReason === 'length' || stopReason === 'tool_call') {
    return { text, toolCalls, stopReason };
  }
  throw new FrameError('VALIDATION_ERROR', 'The stop_reason of a turn is stop, length or tool_call.');
}
