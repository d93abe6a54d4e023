/** The messages of a conversation, as chat templates and MCP know them. */
import type { JsonSchema } from './json-schema.ts';

/** One block of a tool's output. MCP's further block types (audio, resources) pass through as they are. */
export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: string; [key: string]: unknown };

/** A call that the model made and that parsed as one. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export type Message =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls?: ToolCall[] }
  | { role: 'tool'; content: string; toolCallId: string; name: string };

/** What a model is told of a tool. */
export interface ToolDescription {
  name: string;
  description: string;
  inputSchema: JsonSchema;
}
