/** The messages of a conversation, in the form that chat templates and MCP use. */
import type { JsonSchema } from './json-schema.ts';

/**
 * One block of a tool's output, as defined by MCP 2025-11-25 (server/tools#tool-result). Blocks may also carry
 * `annotations` and `_meta`. Unknown types pass through unchanged.
 */
export type ContentBlock =
  | { type: 'text'; text: string }
  /** `data` is base64, here and in audio. */
  | { type: 'image' | 'audio'; data: string; mimeType: string }
  | { type: 'resource_link'; uri: string; name: string; description?: string; mimeType?: string }
  | { type: 'resource'; resource: EmbeddedResource }
  | { type: string; [key: string]: unknown };

/** A resource by value: its text, or its bytes in base64. */
export type EmbeddedResource = { uri: string; mimeType?: string } & ({ text: string } | { blob: string });

/** A call that the model wrote and that parsed. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

/** A message of the conversation, as chat templates take it. */
export type Message =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls?: ToolCall[] }
  | { role: 'tool'; content: string; toolCallId: string; name: string };

/** What the model sees of a tool. */
export interface ToolDescription {
  name: string;
  description: string;
  inputSchema: JsonSchema;
}

/** The whole next input of the policy. Appending to the previous observation is only the default. */
export interface Observation {
  messages: Message[];
  tools: ToolDescription[];
  /**
   * Which conversation of the episode this is, if it is not the first: an agent's helper, a history that was rewritten, a second player.
   * A policy keeps a turn and a cache for each, and each seeds its own turns.
   */
  conversation?: string;
}
