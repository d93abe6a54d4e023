/** Reads what an ORS server sends of a prompt and of a tool's result. */
import { failure, type Message, type ToolResult } from '@toolenv/core';
import { isObject, tryJsonWithDigits } from '@toolenv/core/schemas';
import type { ServedStep } from '@toolenv/serving';

/** The result of a call on the server. */
export interface ToolOutput extends ServedStep {
  result: ToolResult;
}

/** A block of text or an image, whose data is base64. */
export type Block = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };

/** Larger than any reward that a server gives. */
export const maxReward = 1e9;

/**
 * @param text JSON of ORS's RunToolOutput.
 * @throws Error that says what is wrong.
 */
export function readToolOutput(text: string): ToolOutput {
  const answer = tryJsonWithDigits(text);
  if (!isObject(answer)) throw new Error(`the result of a call is not a JSON object: ${text.slice(0, 200)}`);
  const { ok, output, error } = answer;
  if (ok === false && typeof error === 'string') return { result: failure(error), reward: null, done: false };
  if (ok !== true || !isObject(output))
    throw new Error('the result of a call has neither an output nor an error');
  const { blocks, metadata = null, reward = null, finished = false } = output;
  if (typeof finished !== 'boolean') throw new Error('"finished" is not true or false');
  if (reward !== null && !(typeof reward === 'number' && Math.abs(reward) <= maxReward))
    throw new Error(`the reward is ${excerpt(reward)}, not a number from -${maxReward} to ${maxReward}`);
  if (metadata !== null && !isObject(metadata)) throw new Error('the metadata is not an object');
  const isError = metadata?.is_error === true;
  return {
    result: { content: readBlocks(blocks), ...(isError && { isError }) },
    reward,
    done: finished,
    ...(metadata && { metadata }),
  };
}

/** @throws Error for anything but a list of texts and images. */
export function readBlocks(blocks: unknown): Block[] {
  if (!Array.isArray(blocks)) throw new Error('the blocks are not a list');
  return blocks.map((block): Block => {
    const { type, text, data, mimeType } = Object(block);
    if (type === 'text' && typeof text === 'string') return { type, text };
    if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string')
      return { type, data, mimeType };
    throw new Error(`a block is ${excerpt(block)}, neither a text nor an image`);
  });
}

/**
 * The messages of a prompt: blocks, or turns with a role, as OpenReward's servers send them too.
 * @param images `describe` puts the type of an image in its place, since messages are texts.
 * @throws Error for anything else, and for an image if images are refused.
 */
export function readMessages(given: unknown, images: 'refuse' | 'describe'): Message[] {
  if (!Array.isArray(given) || given.length === 0) throw new Error('the prompt is empty');
  const turns = given.every((each) => isObject(each) && 'role' in each)
    ? given
    : [{ role: 'user', blocks: given }];
  return turns.map(({ role, blocks }): Message => {
    if (role !== 'system' && role !== 'user' && role !== 'assistant')
      throw new Error(`a message has the role ${excerpt(role)}`);
    const texts = readBlocks(blocks).map((block) => {
      if (block.type === 'text') return block.text;
      if (images === 'describe') return `[image ${block.mimeType}]`;
      throw new Error(
        `the prompt has an image (${block.mimeType}), and a policy reads text: give images=describe, or a task without images`,
      );
    });
    return { role, content: texts.join('\n') };
  });
}

function excerpt(value: unknown): string {
  return typeof value === 'number' ? String(value) : String(JSON.stringify(value)).slice(0, 200);
}
