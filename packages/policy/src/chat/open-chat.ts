/** @toolenv/policy/chat: the prompts of a checkpoint, without its weights and without a library that computes. */

import type { EncodedRow, Observation, PlainText } from '@toolenv/core';
import { openSmallFiles } from '../checkpoint/open-checkpoint.ts';
import { Chat, type ChatOptions } from './chat.ts';
import { encodeExample } from './encode-example.ts';

export interface OpenedChat {
  chat: Chat;
  /** Largest number of tokens of a prompt and its action together. */
  contextLength: number;
  /** Token ids are below it. */
  vocabularySize: number;
  /** The rows of a conversation or text, as `Policy.encode` gives them. */
  encode(example: Observation | PlainText): EncodedRow[];
}

/**
 * Reads tokenizer, chat template and configuration of a Hugging Face folder, or of a model of the Hugging Face Hub: `owner/name`, or
 * `owner/name@revision`. A path that exists counts first.
 * @throws ToolEnvError `usage.checkpoint_*`, naming the file, `usage.template_arguments` and `usage.bad_option`; what `fetchModel` of
 * @toolenv/hub throws.
 */
export async function openChat(name: string, options?: ChatOptions): Promise<OpenedChat> {
  const files = await openSmallFiles(name);
  const { max_position_embeddings: contextLength, vocab_size: vocabularySize } = files.config;
  const chat = new Chat(files, options);
  return { chat, contextLength, vocabularySize, encode: (example) => encodeExample(chat, example) };
}
