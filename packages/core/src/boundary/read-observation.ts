/** readObservation: an environment's observation, copied, in the form that the loop and the policy rely on. */
import { imageMistake, imagesOf, type Message, type Observation } from '../protocol/message.ts';
import { describe } from '../protocol/violation.ts';
import { callsBounds, recordBounds } from '../schemas/json-bounds.ts';
import { maxNameLength } from './bound-call.ts';
import { BrokenRule, enforceRule } from './broken-rule.ts';
import { isToolCall } from './check-action.ts';
import { asSnapshot, freezeJson, isFrozenJson, isSnapshot } from './json-copies.ts';

/**
 * Runs in each turn of each episode: messages that the observation before had are compared, and only new ones are copied and checked.
 * @param before The observation before, as this function returned it.
 * @throws BrokenRule for ENV-14 and ENV-16.
 */
export function readObservation(given: unknown, before: Observation | undefined): Observation {
  const { messages, tools, conversation, stop } = Object(given);
  if (!Array.isArray(messages) || messages.length === 0) throw malformed('the observation has no message');
  const isOurs = isSnapshot(given);
  const known = before?.messages ?? [];
  const copies: Message[] = [];
  let characters = 0;
  for (let index = 0; index < messages.length; index++) {
    const before = known[index];
    const current = messages[index];
    const isKnown =
      before !== undefined &&
      (before === current ? isFrozenJson(current, callsBounds) : !isOurs && isSameMessage(before, current));
    const message = isKnown ? before : isOurs ? checkMessage(current, index) : readMessage(current, index);
    characters += message.content.length;
    for (const { data } of imagesOf(message)) characters += data.length;
    if (characters > recordBounds.characters)
      throw new BrokenRule('ENV-16', `the observation has more than ${recordBounds.characters} characters`);
    copies.push(message);
  }
  checkTools(tools);
  const isName =
    typeof conversation === 'string' && conversation !== '' && conversation.length <= maxNameLength;
  if (conversation !== undefined && !isName)
    throw malformed(
      `the conversation is ${describe(conversation)}, not a name of 1 to ${maxNameLength} characters`,
    );
  if (stop !== undefined && !isStop(stop))
    throw malformed(`stop is ${describe(stop)}, not at most 64 texts of 1 to 1,024 characters`);
  if (isOurs) return given as Observation;
  return asSnapshot({
    messages: copies,
    tools: [...tools],
    ...(conversation !== undefined && { conversation }),
    ...(stop !== undefined && { stop: [...stop] }),
  });
}

function isStop(given: unknown): given is readonly string[] {
  const isText = (text: unknown) => typeof text === 'string' && text !== '' && text.length <= 1024;
  return Array.isArray(given) && given.length <= 64 && given.every(isText);
}

function readMessage(given: unknown, index: number): Message {
  return checkMessage(
    enforceRule('ENV-16', `message ${index}`, () => freezeJson(given, callsBounds)),
    index,
  );
}

/** Whether the message says what it said when it was copied. */
function isSameMessage(copy: Message, given: unknown): boolean {
  const { role, content, reasoning, toolCalls, toolCallId, name, images } = Object(given);
  const known = copy as {
    reasoning?: string;
    toolCalls?: unknown;
    toolCallId?: string;
    name?: string;
    images?: unknown;
  };
  return (
    copy.role === role &&
    copy.content === content &&
    known.reasoning === reasoning &&
    known.toolCallId === toolCallId &&
    known.name === name &&
    isSame(known.toolCalls, toolCalls) &&
    isSame(known.images, images)
  );
}

/** Whether the value is what it was when it was copied. No deeper than the copy, which is bounded. */
function isSame(copy: unknown, given: unknown): boolean {
  if (copy === given) return true;
  if (typeof copy !== 'object' || typeof given !== 'object' || copy === null || given === null) return false;
  if (Array.isArray(copy) !== Array.isArray(given)) return false;
  const keys = Object.keys(copy);
  if (keys.length !== Object.keys(given).length) return false;
  for (const key of keys) {
    if (!isSame((copy as Record<string, unknown>)[key], (given as Record<string, unknown>)[key]))
      return false;
  }
  return true;
}

const roles = new Set<unknown>(['system', 'user', 'assistant', 'tool']);

function checkMessage(given: unknown, index: number): Message {
  const { role, content, reasoning, toolCalls, toolCallId, name, images } = Object(given);
  if (!roles.has(role)) throw malformed(`the role of message ${index} is ${describe(role)}`);
  if (typeof content !== 'string') throw malformed(`the content of message ${index} is ${describe(content)}`);
  if (reasoning !== undefined && typeof reasoning !== 'string')
    throw malformed(`the reasoning of message ${index} is ${describe(reasoning)}`);
  if (toolCalls !== undefined) checkCalls(toolCalls, index);
  if (images !== undefined) checkImages(images, role, index);
  if (role === 'tool' && (typeof toolCallId !== 'string' || typeof name !== 'string'))
    throw malformed(`message ${index} of a tool has no toolCallId or no name`);
  return given as Message;
}

function checkImages(images: unknown, role: unknown, index: number): void {
  if (role !== 'user' && role !== 'tool')
    throw malformed(`message ${index} of the role ${describe(role)} has images`);
  if (!Array.isArray(images)) throw malformed(`the images of message ${index} are ${describe(images)}`);
  for (const image of images) {
    const mistake = imageMistake(image);
    if (mistake) throw malformed(`an image of message ${index} cannot be read: ${mistake}`);
  }
}

function checkCalls(calls: unknown, index: number): void {
  if (!Array.isArray(calls)) throw malformed(`the toolCalls of message ${index} are ${describe(calls)}`);
  const wrong = calls.findIndex((call) => !isToolCall(Object(call)));
  if (wrong >= 0) throw malformed(`call ${wrong} of message ${index} has no id, no name or no arguments`);
}

function checkTools(tools: unknown): void {
  if (!Array.isArray(tools)) throw malformed(`the tools of the observation are ${describe(tools)}`);
  for (const tool of tools) {
    const { name, description, inputSchema } = Object(tool);
    const isComplete = typeof name === 'string' && name !== '' && typeof description === 'string';
    if (!isComplete) throw malformed('a tool of the observation has no name or no description');
    if (Object(inputSchema) !== inputSchema) throw malformed(`the tool ${describe(name)} has no inputSchema`);
  }
}

function malformed(problem: string): BrokenRule {
  return new BrokenRule('ENV-14', problem);
}
