/** checkObservation: whether an environment's observation has the form that the loop and the policy rely on. */
import { inWords, type Violation } from '../protocol/violation.ts';
import { callsBounds, jsonMistake, recordBounds } from '../schemas/json-bounds.ts';

const roles = new Set<unknown>(['system', 'user', 'assistant', 'tool']);

/** Runs in each turn of each episode, so it costs no more than a look at each message and tool. */
export function checkObservation(given: unknown): Violation | undefined {
  const { messages, tools } = Object(given);
  if (!Array.isArray(messages) || messages.length === 0) return malformed('the observation has no message');
  let characters = 0;
  for (const [index, message] of messages.entries()) {
    const { role, content, toolCalls } = Object(message);
    if (!roles.has(role)) return malformed(`the role of message ${index} is ${inWords(role)}`);
    if (typeof content !== 'string')
      return malformed(`the content of message ${index} is ${inWords(content)}`);
    characters += content.length;
    const wrong = toolCalls === undefined ? undefined : checkCalls(toolCalls, index);
    if (wrong) return wrong;
  }
  if (characters > recordBounds.characters) {
    return { rule: 'ENV-16', problem: `the observation has ${characters} characters` };
  }
  return checkTools(tools);
}

function checkCalls(calls: unknown, index: number): Violation | undefined {
  if (!Array.isArray(calls)) return malformed(`the toolCalls of message ${index} are ${inWords(calls)}`);
  const wrong = jsonMistake(calls, callsBounds);
  return wrong && { rule: 'ENV-16', problem: `the toolCalls of message ${index} are ${wrong.received}` };
}

function checkTools(tools: unknown): Violation | undefined {
  if (!Array.isArray(tools)) return malformed(`the tools of the observation are ${inWords(tools)}`);
  for (const tool of tools) {
    const { name, description, inputSchema } = Object(tool);
    const isComplete = typeof name === 'string' && typeof description === 'string';
    if (!isComplete) return malformed('a tool of the observation has no name or no description');
    if (Object(inputSchema) !== inputSchema) return malformed(`the tool ${inWords(name)} has no inputSchema`);
  }
  return undefined;
}

function malformed(problem: string): Violation {
  return { rule: 'ENV-14', problem };
}
