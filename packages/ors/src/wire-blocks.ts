/** Messages and results as ORS's clients read them. */
import type { Message, ToolCallRecord, ToolDescription } from '@toolenv/core';
import { boundText } from '@toolenv/core/tools';

/** ORS's TextBlock or ImageBlock. */
export type WireBlock = { detail: null } & (
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
);

export function textBlock(text: string): WireBlock {
  return { type: 'text', text, detail: null };
}

/** What the policy reads of a result, and its images in their places. */
export function resultBlocks({ text, result }: ToolCallRecord, maxToolCharacters: number): WireBlock[] {
  const { content = [] } = result ?? {};
  if (!content.some(({ type }) => type === 'image')) return [textBlock(text)];
  return content.map((block: Record<string, unknown>): WireBlock => {
    const { type, data, mimeType } = block;
    if (type === 'image') return { type, data: String(data), mimeType: String(mimeType), detail: null };
    return textBlock(type === 'text' ? boundText(String(block.text), maxToolCharacters) : `[${type}]`);
  });
}

/** What the policy reads of messages that it has not written itself. */
export function promptBlocks(messages: readonly Message[]): WireBlock[] {
  return messages
    .filter(({ role }) => role === 'user' || role === 'system')
    .map(({ content }) => textBlock(content));
}

/** Messages with roles, as OpenReward's clients read them. There, a tool's result is text of the user. */
export function wireMessages(messages: readonly Message[]): object[] {
  return messages.map(({ role, content }) => ({
    role: role === 'tool' ? 'user' : role,
    blocks: [textBlock(content)],
    detail: null,
  }));
}

/** Takes the answer. */
const answerDescription = 'Give the final answer to the task.';

/** The name of the tool that takes the answer: a name that the environment's own tools do not have. */
export function answerNameOf(tools: readonly ToolDescription[]): string {
  let name = 'submit';
  while (tools.some((tool) => tool.name === name)) name += '_answer';
  return name;
}

/** The tools, with one more that takes the answer. Clients of OpenReward give it what the model writes without a call. */
export function wireTools(tools: readonly ToolDescription[]): object {
  const name = answerNameOf(tools);
  const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  const listed = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
  }));
  return {
    tools: [...listed, { name, description: answerDescription, input_schema: schema }],
    terminal_tool: { name, arg: 'text', description: answerDescription },
  };
}
