/** Conversations as tokens: the checkpoint's own tokenizer and chat template, and prompts that grow without re-tokenising. */
import { isDeepStrictEqual } from 'node:util';
import { Template } from '@huggingface/jinja';
import type { Tokenizer } from '@huggingface/tokenizers';
import { type Message, messageOf, type Observation, type ToolDescription, ToolEnvError } from '@toolenv/core';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { openTokenizer } from '../checkpoint/tokenizer.ts';
import { middleOf, sharedStart } from './rendered-text.ts';
import { formatOf, type ParsedTurn, type ToolCallFormat } from './tool-call-formats.ts';

export class Chat {
  readonly #tokenizer: Tokenizer;
  readonly #template: Template;
  /** The one for conversations with tools, if it is another. */
  readonly #toolTemplate: Template;
  readonly #format: ToolCallFormat;
  /** Token ids of the format's markers → their text. */
  readonly #markers: ReadonlyMap<number, string>;
  /** What templates may begin and end a conversation with. */
  readonly #ends: { bos_token: string; eos_token: string };
  readonly endTokens: readonly number[];
  /** Their texts. */
  readonly #endTexts: readonly string[];

  constructor(checkpoint: Pick<Checkpoint, 'folder' | 'tokenizer' | 'tokenizerConfig' | 'endTokens'>) {
    const { folder, tokenizer, tokenizerConfig, endTokens } = checkpoint;
    const { template, toolTemplate = template } = templatesOf(tokenizerConfig.chat_template);
    if (toolTemplate === undefined || template === undefined) {
      const message = `${folder} has no chat template: add chat_template.jinja or use an instruction-tuned checkpoint.`;
      throw new ToolEnvError('usage.checkpoint_unsupported', message);
    }
    this.#template = parseTemplate(folder, template);
    this.#toolTemplate = toolTemplate === template ? this.#template : parseTemplate(folder, toolTemplate);
    this.#format = formatOf(toolTemplate);
    this.#tokenizer = openTokenizer(folder, tokenizer, tokenizerConfig);
    const added = (tokenizer.added_tokens ?? []) as { id: number; content: string }[];
    const markers = added.filter(({ content }) => this.#format.markers.includes(content));
    this.#markers = new Map(markers.map(({ id, content }) => [id, content]));
    const { bos_token, eos_token } = tokenizerConfig;
    this.#ends = { bos_token: contentOf(bos_token), eos_token: contentOf(eos_token) };
    this.endTokens = endTokens;
    this.#endTexts = endTokens.map((token) =>
      this.#tokenizer.decode([token], { skip_special_tokens: false }),
    );
  }

  /**
   * The conversation as the model reads it, ready for its next turn.
   * @throws ToolEnvError if the template refuses it: `context.template` once the model has spoken, which ends the episode, as
   * where it made several calls in a turn and the template shows one; `usage.chat_template` before.
   */
  render({ messages, tools }: Observation, addGenerationPrompt = true): string {
    try {
      return (tools.length > 0 ? this.#toolTemplate : this.#template).render({
        ...this.#ends,
        messages: messages.map((message) => toTemplateMessage(message, this.#format)),
        tools: tools.length > 0 ? tools.map(toTemplateTool) : null,
        add_generation_prompt: addGenerationPrompt,
      });
    } catch (error) {
      const spoken = messages.some(({ role }) => role === 'assistant');
      throw new ToolEnvError(
        spoken ? 'context.template' : 'usage.chat_template',
        `The chat template refuses the conversation: ${messageOf(error)}`,
      );
    }
  }

  encode(text: string): Int32Array {
    return Int32Array.from(this.#tokenizer.encode(text, { add_special_tokens: false }).ids);
  }

  /** Text without the special tokens. */
  decode(tokens: Int32Array): string {
    return tokens.length === 0 ? '' : this.#tokenizer.decode([...tokens], { skip_special_tokens: true });
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
   * the template adds after the model's turn. A template that would show the past otherwise now, as Qwen3's leaves out
   * earlier thoughts, does not change it. `undefined` if the environment rewrote what came before, or if the template has
   * no end of the turn.
   */
  continuation(previous: Turn, observation: Observation): Int32Array | undefined {
    const { observation: before, prompt, action } = previous;
    const count = before.messages.length;
    const turn = observation.messages[count];
    if (turn?.role !== 'assistant' || turn.content !== previous.text) return undefined;
    if (!isDeepStrictEqual(before.tools, observation.tools)) return undefined;
    if (!isDeepStrictEqual(before.messages, observation.messages.slice(0, count))) return undefined;

    const rest = this.#fromEndOfTurn(observation, count + 1);
    if (rest === undefined) return undefined;
    // The end is tokenised along, because text may be other tokens where it stands first.
    const suffix = this.encode(rest);
    if (!this.endTokens.includes(suffix[0]!)) return undefined;
    const ended = this.endTokens.includes(action.at(-1)!);
    const added = suffix.subarray(ended ? 1 : 0);
    const tokens = new Int32Array(prompt.length + action.length + added.length);
    tokens.set(prompt);
    tokens.set(action, prompt.length);
    tokens.set(added, prompt.length + action.length);
    return tokens;
  }

  /** What is rendered from the end of the turn before `messages[next]` on. */
  #fromEndOfTurn(observation: Observation, next: number): string | undefined {
    const whole = this.render(observation);
    const heard = this.#placeOf(observation, next, whole);
    if (heard === undefined) return undefined;
    const end = Math.max(...this.#endTexts.map((text) => whole.slice(0, heard).lastIndexOf(text)));
    return end < 0 ? undefined : whole.slice(end);
  }

  /**
   * Where in the rendered conversation the content of a message stands, before any end of a turn in it; the end, if there is
   * no such message. It is where a mark in the content shows, and nothing else must change with it.
   */
  #placeOf(observation: Observation, index: number, whole: string): number | undefined {
    const message = observation.messages[index];
    if (!message) return whole.length;
    const at = middleOf(message.content, this.#endTexts);
    const content = `${message.content.slice(0, at)}0${message.content.slice(at)}`;
    const marked = this.render({
      ...observation,
      messages: observation.messages.with(index, { ...message, content }),
    });
    const place = sharedStart(whole, marked);
    return marked !== whole && marked.endsWith(whole.slice(place)) ? place : undefined;
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
  if (message.role !== 'assistant') return { ...message };
  if (!message.toolCalls?.length) return { role: 'assistant', content: message.content };
  const tool_calls = message.toolCalls.map(({ id, name, arguments: args }) => ({
    id: templateId(id),
    type: 'function',
    function: { name, arguments: args },
  }));
  return { role: 'assistant', content: message.content, tool_calls };
}

function toTemplateTool({ name, description, inputSchema }: ToolDescription): Record<string, unknown> {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

/** Some checkpoints have several templates by name, one of them for tools. */
function templatesOf(given: Checkpoint['tokenizerConfig']['chat_template']): {
  template?: string | undefined;
  toolTemplate?: string | undefined;
} {
  if (!Array.isArray(given)) return { template: given };
  const named = (name: string) => given.find((each) => each.name === name)?.template;
  return { template: named('default'), toolTemplate: named('tool_use') };
}

function parseTemplate(folder: string, template: string): Template {
  try {
    return new Template(template);
  } catch (error) {
    const message = `${folder}: its chat template cannot be read (${messageOf(error)}): correct chat_template.jinja.`;
    throw new ToolEnvError('usage.checkpoint_unsupported', message);
  }
}

/** A special token of tokenizer_config.json: its text, or an object that has it. */
function contentOf(token: unknown): string {
  if (typeof token === 'string') return token;
  const { content } = (token ?? {}) as { content?: unknown };
  return typeof content === 'string' ? content : '';
}
