/** Tools as text, for models whose chat template or server has no tools: descriptions in the system message, calls in Hermes' format. */
import { imagesOf, type Message, type Observation, type ToolDescription } from '../protocol/message.ts';

/** Tools in the shape of OpenAI's API, which chat templates read too. */
export function functionTools(tools: readonly ToolDescription[]): Record<string, unknown>[] {
  return tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }));
}

/** The conversation without tools and calls, which are text in it. */
export function withTextTools({ messages, tools }: Pick<Observation, 'messages' | 'tools'>): Message[] {
  const told: Message[] = [];
  for (const message of messages) {
    if (message.role === 'tool') addResult(told, message);
    else if (message.role === 'assistant') {
      const { toolCalls: _, ...rest } = message;
      told.push({ ...rest, content: turnText(message) });
    } else told.push(message);
  }
  if (tools.length === 0) return told;
  const [first, ...rest] = told;
  if (first?.role !== 'system') return [{ role: 'system', content: manual(tools) }, ...told];
  return [{ role: 'system', content: `${first.content}\n\n${manual(tools)}` }, ...rest];
}

function turnText({ content, toolCalls = [] }: Extract<Message, { role: 'assistant' }>): string {
  const calls = toolCalls.map(
    ({ name, arguments: args }) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`,
  );
  return [content, ...calls].filter((part) => part !== '').join('\n');
}

/** Results of one turn share a message, because many templates want users and assistants to alternate. */
function addResult(told: Message[], message: Message): void {
  const { content } = message;
  const images = imagesOf(message);
  const result = `<tool_response>\n${content}\n</tool_response>`;
  const last = told.at(-1);
  const isOpen = last?.role === 'user' && last.content.endsWith('</tool_response>');
  const shown = [...(isOpen ? imagesOf(last) : []), ...images];
  const whole = isOpen ? `${last.content}\n${result}` : result;
  if (isOpen) told.pop();
  told.push({ role: 'user', content: whole, ...(shown.length > 0 && { images: shown }) });
}

function manual(tools: readonly ToolDescription[]): string {
  const signatures = functionTools(tools).map((tool) => JSON.stringify(tool));
  return [
    '# Tools',
    'You may call these functions. Their signatures are JSON, between <tools> and </tools>:',
    `<tools>\n${signatures.join('\n')}\n</tools>`,
    'To call a function, write its name and arguments as a JSON object between <tool_call> and </tool_call>, and stop:',
    '<tool_call>\n{"name": "<function>", "arguments": {"<argument>": "<value>"}}\n</tool_call>',
  ].join('\n\n');
}
