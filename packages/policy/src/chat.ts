/** Conversations as tokens: the checkpoint's own tokenizer and chat template, and prompts that grow without re-tokenising. */
import { isDeepStrictEqual } from 'node:util';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import type { Message, Observation } from '@toolenv/core';
import { ToolEnvError } from '@toolenv/core';
import type { Checkpoint } from './checkpoint.ts';

export class Chat {
  readonly #tokenizer: Tokenizer;
  readonly #template: Template;
  readonly endTokens: readonly number[];

  constructor(checkpoint: Pick<Checkpoint, 'folder' | 'tokenizer' | 'tokenizerConfig' | 'endTokens'>) {
    const { chat_template: template } = checkpoint.tokenizerConfig;
    if (typeof template !== 'string') {
      const message = `${checkpoint.folder} has no chat template: add chat_template.jinja or use an instruction-tuned checkpoint.`;
      throw new ToolEnvError('usage.checkpoint_unsupported', message);
    }
    this.#tokenizer = new Tokenizer(checkpoint.tokenizer, checkpoint.tokenizerConfig);
    this.#template = new Template(template);
    this.endTokens = checkpoint.endTokens;
  }

  /** The conversation as the model reads it, ready for its next turn. */
  render({ messages, tools }: Observation, addGenerationPrompt = true): string {
    return this.#template.render({
      messages: messages.map(toTemplateMessage),
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
    const end = this.#endOfTurn();
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

  /** The text of the token that ends a turn. */
  #endOfTurn(): string {
    return this.#tokenizer.decode([this.endTokens[0]!], { skip_special_tokens: false });
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
function toTemplateMessage(message: Message): Record<string, unknown> {
  if (message.role === 'tool') return { role: 'tool', content: message.content, name: message.name };
  if (message.role !== 'assistant' || !message.toolCalls) return { ...message };
  const tool_calls = message.toolCalls.map(({ name, arguments: args }) => ({
    type: 'function',
    function: { name, arguments: args },
  }));
  return { role: 'assistant', content: message.content, tool_calls };
}
