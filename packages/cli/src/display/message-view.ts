/** Messages of a conversation in a terminal, each under its role. */
import {
  type ImageBlock,
  imagesOf,
  isParseFailure,
  type Message,
  type ParseFailure,
  type ToolCall,
  type ToolDescription,
} from '@toolenv/core';
import { paint } from './guarded-output.ts';
import { safeLine, safeText, wrapText } from './terminal-text.ts';

const colours = { system: 'magenta', user: 'blue', assistant: 'green', tool: 'cyan' } as const;

/** The role on one line, then the indented text. */
export function messageView(message: Message, width: number): string {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const name = message.role === 'tool' ? ` ${safeLine(message.name)}` : '';
  // The text of a tool's result names its images already.
  const pictures = message.role === 'tool' ? [] : imagesOf(message).map(pictureText);
  return [
    paint(['bold', colours[message.role]], `${message.role}${name}`),
    ...(message.content === '' ? [] : [indented(message.content, width)]),
    ...pictures.map((picture) => indented(picture, width)),
    ...calls.map((call) => callView(call, width)),
  ].join('\n');
}

/** `[image/png, 2.1 kB]` */
function pictureText({ mimeType, data }: ImageBlock): string {
  return `[${mimeType}, ${((data.length * 3) / 4 / 1000).toFixed(1)} kB]`;
}

/** `→ search {"query":"…"}` */
export function callView(call: ToolCall | ParseFailure, width: number): string {
  const text = isParseFailure(call) ? call.text : `${call.name} ${JSON.stringify(call.arguments)}`;
  const [first = '', ...rest] = indented(text, width, 4).split('\n');
  return [`  ${paint('yellow', '→')} ${first.slice(4)}`, ...rest].join('\n');
}

/** Text of a model, tool or person, safe for the terminal. */
export function indented(text: string, width: number, by = 2): string {
  return wrapText(safeText(text), { width, indent: ' '.repeat(by) });
}

/** A question mark stands after an optional argument. */
export function toolSignature({ name, inputSchema }: ToolDescription): string {
  const { properties = {}, required = [] } = inputSchema as { properties?: object; required?: string[] };
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
  return `${name}(${names.join(', ')})`;
}
