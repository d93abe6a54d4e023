/** Conversations as tokens: the checkpoint's own tokenizer and chat template, and prompts that grow without re-tokenising. */
import { isDeepStrictEqual } from 'node:util';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import type { Message, Observation } from '@toolenv/core';
import { ToolEnvError } from '@toolenv/core';
import type { Checkpoint } from './checkpoint.ts';
import { formatOf, type ParsedTurn, type ToolCallFormat } from './tool-call-formats.ts';

export class Chat {
  readonly #tokenizer: Tokenizer;
  readonly #template: Template;
  readonly #format: ToolCallFormat;
  /** Token ids of the format's markers → their text. */
  readonly #markers: ReadonlyMap<number, string>;
  /** What templates may begin and end a conversation with. */
  readonly #ends: { bos_token: string; eos_token: string };
  readonly endTokens: readonly number[];

  constructor(checkpoint: Pick<Checkpoint, 'folder' | 'tokenizer' | 'tokenizerConfig' | 'endTokens'>) {
    const { chat_template: template } = checkpoint.tokenizerConfig;
    if (typeof template !== 'string') {
      const message = `${checkpoint.folder} has no chat template: add chat_template.jinja or use an instruction-tuned checkpoint.`;
      throw new ToolEnvError('usage.checkpoint_unsupported', message);
    }
    this.#tokenizer = new Tokenizer(checkpoint.tokenizer, checkpoint.tokenizerConfig);
    this.#template = new Template(template);
    this.#format = formatOf(template);
    const added = (checkpoint.tokenizer.added_tokens ?? []) as { id: number; content: string }[];
    const markers = added.filter(({ content }) => this.#format.markers.includes(content));
    this.#markers = new Map(markers.map(({ id, content }) => [id, content]));
    const { bos_token, eos_token } = checkpoint.tokenizerConfig;
    this.#ends = { bos_token: contentOf(bos_token), eos_token: contentOf(eos_token) };
    this.endTokens = checkpoint.endTokens;
  }

  /** The conversation as the model reads it, ready for its next turn. */
  render({ messages, tools }: Observation, addGenerationPrompt = true): string {
    return this.#template.render({
      ...this.#ends,
      messages: messages.map((message) => toTemplateMessage(message, this.#format)),
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: 'function',
        function: { name, description, parameters: inputSchema },
      })),
      add_generation_prompt: addGenerationPrompt,
    });
  }

  encode(text: string): Int32Array {
    return Int32Array.from(this.#tokenizer.encode(text, { add_special_tokens: false }).ids);
  }

  /** Text without the special tokens. */
  decode(tokens: Int32Array): string {
    return this.#tokenizer.decode([...tokens], { skip_special_tokens: true });
  }

  /** What was written in a turn, with the marks of its tool calls and without other special tokens. */
  written(action: Int32Array): string {
    const pieces: string[] = [];
    let start = 0;
    for (const [t, token] of action.entries()) {
      const marker = this.#markers.get(token);
      if (marker === undefined) continue;
      pieces.push(this.decode(action.subarray(start, t)), marker);
      start = t + 1;
    }
    return [...pieces, this.decode(action.subarray(start))].join('');
  }

  /** The tool calls in what was written, in the format of the checkpoint. */
  parse(written: string): ParsedTurn {
    return this.#format.parse(written);
  }

  prompt(observation: Observation): Int32Array {
    return this.encode(this.render(observation));
  }

  /**
   * The prompt of a conversation that went on: the tokens of its last prompt and action as they were, then only what
   * the template adds after the model's turn. `undefined` if the environment rewrote what came before.
   */
  continuation(previous: Turn, observation: Observation): Int32Array | undefined {
    const count = previous.observation.messages.length;
    const turn = observation.messages[count];
    if (turn?.role !== 'assistant' || turn.content !== previous.text) return undefined;
    if (!isDeepStrictEqual(previous.observation.messages, observation.messages.slice(0, count)))
      return undefined;

    const upToTurn = this.render(
      { messages: observation.messages.slice(0, count + 1), tools: observation.tools },
      false,
    );
    const whole = this.render(observation);
    if (!whole.startsWith(upToTurn)) return undefined;
    const end = this.#endOfTurn(upToTurn);
    if (end === undefined) return undefined;
    const afterEnd = upToTurn.slice(upToTurn.lastIndexOf(end) + end.length);
    const { prompt, action } = previous;
    const ended = this.endTokens.includes(action.at(-1)!);
    const suffix = this.encode((ended ? '' : end) + afterEnd + whole.slice(upToTurn.length));
    const tokens = new Int32Array(prompt.length + action.length + suffix.length);
    tokens.set(prompt);
    tokens.set(action, prompt.length);
    tokens.set(suffix, prompt.length + action.length);
    return tokens;
  }

  /** The text of the token that ends the turn that a rendering ends with; models may have several such tokens. */
  #endOfTurn(rendered: string): string | undefined {
    const ends = this.endTokens.map((token) =>
      this.#tokenizer.decode([token], { skip_special_tokens: false }),
    );
    const [last] = ends.sort((a, b) => rendered.lastIndexOf(b) - rendered.lastIndexOf(a));
    return last !== undefined && rendered.includes(last) ? last : undefined;
  }
}

/** What the model saw and did in its last turn. */
export interface Turn {
  observation: Observation;
  prompt: Int32Array;
  action: Int32Array;
  /** The action's text as the environment was told it. */
  text: string;
}

/** Chat templates read OpenAI's message shape. */
function toTemplateMessage(
  message: Message,
  { templateId = (id) => id }: ToolCallFormat,
): Record<string, unknown> {
  if (message.role === 'tool') {
    const { content, name, toolCallId } = message;
    return { role: 'tool', content, name, tool_call_id: templateId(toolCallId) };
  }
  if (message.role !== 'assistant' || !message.toolCalls) return { ...message };
  const tool_calls = message.toolCalls.map(({ id, name, arguments: args }) => ({
    id: templateId(id),
    type: 'function',
    function: { name, arguments: args },
  }));
  return { role: 'assistant', content: message.content, tool_calls };
}

/** A special token of tokenizer_config.json: its text, or an object that has it. */
function contentOf(token: unknown): string {
  if (typeof token === 'string') return token;
  const { content } = (token ?? {}) as { content?: unknown };
  return typeof content === 'string' ? content : '';
}
