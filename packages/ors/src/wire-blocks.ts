/** Messages and results as ORS's clients read them. */
import type { ContentBlock, Message, ToolDescription } from '@toolenv/core';

/** ORS's TextBlock or ImageBlock. */
export type WireBlock = { detail: null } & (
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
);

export function textBlock(text: string): WireBlock {
  return { type: 'text', text, detail: null };
}

/** The images of a result. Its text says what else it has. */
export function imageBlocks(content: readonly ContentBlock[] = []): WireBlock[] {
  return content.flatMap(({ type, data, mimeType }: Record<string, unknown>) =>
    type === 'image' ? [{ type, data: String(data), mimeType: String(mimeType), detail: null }] : [],
  );
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
