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
  /** Frozen in an episode, whose records share them. A tool gets a copy of its own. */
  arguments: Readonly<Record<string, unknown>>;
}

/** A message of the conversation, as chat templates take it. */
export type Message =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string; images?: readonly ImageBlock[] }
  /** `reasoning` is what the model thought, which chat templates and servers read as `reasoning_content`. */
  | { role: 'assistant'; content: string; reasoning?: string; toolCalls?: ToolCall[] }
  | { role: 'tool'; content: string; toolCallId: string; name: string; images?: readonly ImageBlock[] };

/** An image in a message, the block of MCP. A policy that reads no images gets words instead. */
export interface ImageBlock {
  type: 'image';
  /** Base64. */
  data: string;
  mimeType: string;
}

const noImages: readonly ImageBlock[] = [];

/** The images of a message. */
export function imagesOf(message: Message): readonly ImageBlock[] {
  return (message as { images?: readonly ImageBlock[] }).images ?? noImages;
}

/** Base64 characters of one image. */
const maxImageLength = 4 * 2 ** 20;

/** What keeps a value from being an image that models read; `undefined` if nothing does. */
export function imageMistake(value: unknown): string | undefined {
  const { type, data, mimeType } = Object(value);
  if (type !== 'image' || typeof data !== 'string' || typeof mimeType !== 'string')
    return 'an image must be { type: "image", data, mimeType }';
  if (!/^image\/(png|jpeg|gif|webp)$/.test(mimeType))
    return 'its mimeType must be that of PNG, JPEG, GIF or WebP';
  if (data.length > maxImageLength) return `its data must have at most ${maxImageLength} characters`;
  return /^[A-Za-z0-9+/]*={0,2}$/.test(data) ? undefined : 'its data must be base64';
}

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
  /**
   * Texts that end the turn, beside those of the run: what reads the answer asks for them, as some agents do. At most 64 texts of at
   * most 1,024 characters.
   */
  stop?: readonly string[];
}
