/** Conversations as tokens, by the checkpoint's tokenizer and chat template. Growing prompts are not tokenised again. */
import { isDeepStrictEqual } from 'node:util';
import type { Tokenizer } from '@huggingface/tokenizers';
import { type Message, messageOf, type Observation, parsedCalls, ToolEnvError } from '@toolenv/core';
import type { TokenChat, TokenTurn } from '@toolenv/core/remote';
import {
  functionTools,
  hermesFormat,
  type ParsedTurn,
  type ToolCallFormat,
  withTextTools,
} from '@toolenv/core/tools';
import { withinDeadline } from '#within-deadline';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { hasLinearPatterns } from '../checkpoint/linear-patterns.ts';
import { addedTokens, openTokenizer, specialTokenText, vocabularyOf } from '../checkpoint/tokenizer.ts';
import { commonPrefix } from '../common-prefix.ts';
import type { TokenLimit } from '../grammar/call-constraints.ts';
import { CallConstraints } from '../grammar/call-constraints.ts';
import { ChatTemplate, middleOf } from './chat-template.ts';
import { presentTime } from './present-time.ts';
import { addedTurn, type TemplateForm, templateForm } from './template-form.ts';
import { templateMessage, withoutSystem, withThoughtAsText } from './template-message.ts';

/** Extra values for the chat template, such as `enable_thinking: false`. Called `chat_template_kwargs` in transformers. */
export type TemplateArguments = Readonly<Record<string, unknown>>;

/** How conversations become prompts. */
export interface ChatOptions {
  /** Extra values for the chat template, such as `{ enable_thinking: false }`. */
  templateArguments?: TemplateArguments | undefined;
  /**
   * Whether tools are described in the system message, with calls in Hermes' format, in place of what the template does. Default:
   * `tool_prompt` of tokenizer_config.json, or where the template shows no tools.
   */
  toolPrompt?: boolean | undefined;
  /** The day that templates take for today, such as `2026-07-01`. Default: the day on which the chat is made. */
  date?: string | undefined;
}

/** The names that every rendering sets. */
const setByRender = ['messages', 'tools', 'xml_tools', 'add_generation_prompt', 'bos_token', 'eos_token'];

/** A template of the checkpoint, and how it takes conversations. */
interface TriedTemplate {
  readonly template: ChatTemplate;
  readonly form: TemplateForm;
}

export class Chat implements TokenChat {
  readonly #checkpoint: Pick<Checkpoint, 'folder' | 'tokenizer' | 'tokenizerConfig'>;
  /** By the name of the format of calls. */
  readonly #constraints = new Map<string, CallConstraints>();
  #vocabulary: ReadonlyMap<number, string> | undefined;
  readonly #folder: string;
  readonly #tokenizer: Tokenizer;
  /** Whether the tokenizer is known to take linear time. */
  readonly #isLinear: boolean;
  /** For conversations without tools, and for those whose tools are described by the tool prompt. */
  readonly #plain: TriedTemplate;
  /** For conversations with tools. Most checkpoints have one template for both. */
  readonly #withTools: TriedTemplate;
  readonly #toolPrompt: boolean | undefined;
  #hasWarned = false;
  /** The texts of the markers of calls and thoughts by token id. */
  readonly #markers: ReadonlyMap<number, string>;
  readonly #arguments: TemplateArguments;
  /** The special tokens that templates read. As in transformers, one that the checkpoint lacks is undefined. */
  readonly #ends: { bos_token: string | undefined; eos_token: string | undefined };
  /** The tokens that end a turn. */
  readonly endTokens: readonly number[];
  /** The texts of `endTokens`. */
  readonly #endTexts: readonly string[];

  /**
   * @throws ToolEnvError `usage.template_arguments` for an argument that every rendering sets, and `usage.bad_option` for
   * a date that does not exist.
   */
  constructor(
    checkpoint: Pick<Checkpoint, 'folder' | 'tokenizer' | 'tokenizerConfig' | 'endTokens'>,
    { templateArguments = {}, toolPrompt, date }: ChatOptions = {},
  ) {
    const own = setByRender.find((name) => Object.hasOwn(templateArguments, name));
    if (own !== undefined) {
      const message = `The template argument "${own}" is set by the policy itself: leave it out.`;
      throw new ToolEnvError('usage.template_arguments', message);
    }
    this.#arguments = templateArguments;
    this.#toolPrompt = toolPrompt ?? checkpoint.tokenizerConfig.tool_prompt;
    const { folder, tokenizer, tokenizerConfig, endTokens } = checkpoint;
    this.#folder = folder;
    this.#checkpoint = { folder, tokenizer, tokenizerConfig };
    const { template, toolTemplate = template } = templatesOf(tokenizerConfig.chat_template);
    if (toolTemplate === undefined || template === undefined) {
      const message = `${folder} has no chat template: add chat_template.jinja or use an instruction-tuned checkpoint.`;
      throw new ToolEnvError('usage.checkpoint_unsupported', message);
    }
    this.#tokenizer = openTokenizer(folder, tokenizer, tokenizerConfig);
    // Unigram compares all segmentations, of which a hostile vocabulary has many.
    const isUnigram = (tokenizer.model as { type?: unknown }).type === 'Unigram';
    this.#isLinear = !isUnigram && [tokenizer.normalizer, tokenizer.pre_tokenizer].every(hasLinearPatterns);
    const { bos_token, eos_token } = tokenizerConfig;
    this.#ends = {
      bos_token: specialTokenText(bos_token),
      eos_token: specialTokenText(eos_token),
    };
    this.endTokens = endTokens;
    this.#endTexts = endTokens.map((token) =>
      this.#tokenizer.decode([token], { skip_special_tokens: false }),
    );
    const given = { documents: null, ...templateArguments, ...this.#ends };
    const tried = (source: string): TriedTemplate => {
      const parsed = parseTemplate(folder, source, presentTime(date));
      const form = templateForm(
        (messages, variables) => parsed.render({ ...given, tools: null, messages, ...variables }),
        source,
        this.#endTexts,
      );
      return { template: parsed, form };
    };
    this.#plain = tried(template);
    this.#withTools = toolTemplate === template ? this.#plain : tried(toolTemplate);
    const marked = [this.#plain.form, this.#withTools.form].flatMap(({ thoughts, format }) => [
      ...[thoughts.open, thoughts.close],
      ...(format ?? hermesFormat).markers,
    ]);
    if (this.promptsTools) marked.push(...hermesFormat.markers);
    const markers = addedTokens(tokenizer).filter(({ content }) =>
      marked.some((text) => text.includes(content)),
    );
    this.#markers = new Map(markers.map(({ id, content }) => [id, content]));
  }

  get vocabulary(): ReadonlyMap<number, string> {
    this.#vocabulary ??= vocabularyOf(this.#checkpoint.tokenizer);
    return this.#vocabulary;
  }

  /**
   * Renders the conversation by the chat template, by default up to the start of the model's next turn.
   * @throws ToolEnvError if the template refuses the conversation: `usage.chat_template` before the model's first
   * turn, and `context.template` after it. The latter ends the episode, for example after several calls in a turn
   * where the template allows one. A template that goes beyond its bounds after the first turn aborts the episode with
   * `infrastructure.chat_template`: the model did nothing that could be scored.
   */
  render(observation: Observation, addGenerationPrompt = true): string {
    const { messages, tools } = observation;
    const { template, form, isPrompted } = this.#wayOf(tools);
    const told = isPrompted ? withTextTools(observation) : messages;
    const taken = isPrompted && !form.hasSystem ? withoutSystem(told) : told;
    const shown = tools.length > 0 && !isPrompted ? functionTools(tools) : null;
    try {
      return template.render({
        documents: null,
        ...this.#arguments,
        ...this.#ends,
        messages: taken.map((message) => templateMessage(message, form)),
        tools: form.toolsName === 'xml_tools' ? null : shown,
        ...(form.toolsName === 'xml_tools' && { xml_tools: shown }),
        add_generation_prompt: addGenerationPrompt,
      });
    } catch (error) {
      const spoken = messages.some(({ role }) => role === 'assistant');
      const refusal = error instanceof RangeError ? 'infrastructure.chat_template' : 'context.template';
      throw new ToolEnvError(
        spoken ? refusal : 'usage.chat_template',
        `The chat template refuses the conversation: ${oneLine(messageOf(error))}`,
      );
    }
  }

  /** Whether prompts describe tools: `false` if the checkpoint, or the caller, wants neither the template's words nor the tool prompt. */
  get toldTools(): boolean {
    return this.#toolPrompt !== false || this.form.toolsName !== undefined;
  }

  /** How the template for conversations with tools takes them. */
  get form(): TemplateForm {
    return this.#withTools.form;
  }

  /** Whether tools are described by the tool prompt. A template that shows no tools would leave the model without any word of them. */
  get promptsTools(): boolean {
    return this.#toolPrompt ?? this.form.toolsName === undefined;
  }

  /**
   * How a conversation with these tools is rendered and read.
   * @throws ToolEnvError `usage.chat_template` if the template shows tools, and has no calls that a format reads.
   */
  #wayOf(tools: Observation['tools']): TriedTemplate & { isPrompted: boolean; format: ToolCallFormat } {
    if (tools.length === 0 || this.promptsTools) {
      const isPrompted = tools.length > 0;
      if (isPrompted) this.#warnOnce();
      const format = isPrompted ? hermesFormat : (this.#plain.form.format ?? hermesFormat);
      return { ...this.#plain, isPrompted, format };
    }
    const { format, problem } = this.form;
    if (!format && this.#toolPrompt === undefined) {
      const message = `The chat template of ${this.#folder} shows tools and ${problem}: give toolPrompt: true, to describe tools in the system message.`;
      throw new ToolEnvError('usage.chat_template', message);
    }
    return { ...this.#withTools, isPrompted: false, format: format ?? hermesFormat };
  }

  /** Says that tools are described by the tool prompt, unless the caller or the checkpoint asked for it. */
  #warnOnce(): void {
    if (this.#toolPrompt !== undefined || this.#hasWarned) return;
    this.#hasWarned = true;
    globalThis.process?.emitWarning?.(
      `The chat template of ${this.#folder} shows no tools: they are described in the system message, with calls as JSON in <tool_call>.`,
      'ToolPrompt',
    );
  }

  /** @throws ToolEnvError `usage.checkpoint_unsupported` if the tokenizer takes too long for the text or makes too much of it. */
  encode(text: string): Int32Array {
    const encode = () => this.#tokenizer.encode(text, { add_special_tokens: false });
    if (this.#isLinear) return Int32Array.from(encode().ids);
    const deadline = 5000 + text.length;
    const encoded = withinDeadline(encode, deadline);
    if (encoded) return Int32Array.from(encoded.ids);
    const late = `${this.#folder}: tokenizer.json takes more than ${deadline} ms for ${text.length} characters`;
    const remedy = 'use a tokenizer that takes linear time.';
    throw new ToolEnvError('usage.checkpoint_unsupported', `${late}: ${remedy}`);
  }

  /** The text of the tokens, without special tokens. */
  decode(tokens: Int32Array): string {
    return tokens.length === 0 ? '' : this.#tokenizer.decode([...tokens], { skip_special_tokens: true });
  }

  /** The text of a turn, with the markers of tool calls and thoughts and without other special tokens. */
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

  /** Separates the thoughts of a turn, and parses its tool calls in the format of the checkpoint. */
  parse(written: string, tools: Observation['tools'] = []): ParsedTurn {
    const { format, form } = this.#wayOf(tools);
    return format.parse(form.begun + written, { tools, thoughts: form.thoughts });
  }

  /** The name of the format in which calls of these tools are written. @throws ToolEnvError as {@link Chat.render} does. */
  formatName(tools: Observation['tools']): string {
    return this.#wayOf(tools).format.name;
  }

  /** Whether the turn so far ends inside a thought. */
  isThinking(action: Int32Array, tools: Observation['tools']): boolean {
    const { begun, thoughts } = this.#wayOf(tools).form;
    const turn = begun + this.written(action);
    return turn.lastIndexOf(thoughts.open) > turn.lastIndexOf(thoughts.close);
  }

  /**
   * Limits a turn to calls that one of the tools takes, if it has calls.
   * @param size The number of tokens that the model predicts.
   * @throws ToolEnvError `usage.constrain_calls` if the tokenizer, or the schema of a tool, does not allow it. The limit throws it if
   * the vocabulary lacks bytes of a call.
   */
  constrainCalls(tools: Observation['tools'], size: number): TokenLimit {
    const { endTokens } = this;
    const { name: format, markers } = this.#wayOf(tools).format;
    let constraints = this.#constraints.get(format);
    if (!constraints) {
      constraints = new CallConstraints({ ...this.#checkpoint, format, markers, endTokens, size });
      this.#constraints.set(format, constraints);
    }
    return constraints.limit(tools);
  }

  /**
   * The tokens of the rendered conversation, ready for the model's next turn.
   * @param rendered The observation as {@link Chat.render} gives it.
   * @throws ToolEnvError `usage.chat_template` if there are none, and as {@link Chat.render} does.
   */
  prompt(observation: Observation, rendered: string = this.render(observation)): Int32Array {
    const prompt = this.encode(rendered);
    if (prompt.length > 0) return prompt;
    const message = 'The chat template makes no text of the conversation: use another checkpoint.';
    throw new ToolEnvError('usage.chat_template', message);
  }

  /**
   * The tokens with which the model would write a turn, up to the token that ends it: the text that the template adds to the
   * prompt for the message.
   * @param prompt The observation as {@link Chat.render} gives it.
   * @throws ToolEnvError `usage.chat_template` if the template does not continue the prompt with the turn, as a template that
   * removes thoughts from finished turns may, or leaves its calls out, and as {@link Chat.render} does.
   */
  action(observation: Observation, turn: Message, prompt: string = this.render(observation)): Int32Array {
    const { messages } = observation;
    const { form } = this.#wayOf(observation.tools);
    const continued = { ...observation, messages: [...messages, withThoughtAsText(turn, form)] };
    const whole = this.render(continued, false);
    const refuse = (problem: string) =>
      new ToolEnvError(
        'usage.chat_template',
        `The chat template ${problem} message ${messages.length}: use a template that renders a turn as the model writes it.`,
      );
    const added = addedTurn(whole, prompt, form) ?? this.#afterLast(prompt, whole, observation, continued);
    if (added === undefined) throw refuse('does not continue its prompt with');
    const [end, text] = this.#endTexts
      .map((each) => [added.lastIndexOf(each), each] as const)
      .reduce((last, each) => (each[0] > last[0] ? each : last));
    const written = end < 0 ? added + this.#endTexts[0]! : added.slice(0, end + text.length);
    if (
      turn.role === 'assistant' &&
      turn.toolCalls?.length &&
      this.parse(written, observation.tools).toolCalls.length === 0
    )
      throw refuse('leaves out the tool calls of');
    if (turn.role === 'assistant' && turn.reasoning && !written.includes(turn.reasoning.trim()))
      throw refuse('leaves out the thought of');
    // A text may become other tokens at the start of a string than behind the prompt.
    const start = Math.max(0, ...this.#endTexts.map((each) => prompt.lastIndexOf(each)));
    const before = this.encode(prompt.slice(start));
    const both = this.encode(prompt.slice(start) + written);
    return before.every((token, t) => token === both[t]) ? both.slice(before.length) : this.encode(written);
  }

  /**
   * The prompt of the next turn: the tokens of the last prompt and action unchanged, followed by the tokens that the
   * template adds after the model's turn. Earlier tokens stay even if the template now renders the past differently,
   * as Qwen3's template drops earlier thoughts. `undefined` if the environment rewrote the past, or if the rendered
   * text has no end of the turn.
   * @param rendered The observation as {@link Chat.render} gives it.
   */
  continuation(previous: TokenTurn, observation: Observation, rendered?: string): Int32Array | undefined {
    const { observation: before, prompt, action } = previous;
    const count = before.messages.length;
    const turn = observation.messages[count];
    if (turn?.role !== 'assistant' || turn.content !== previous.text) return undefined;
    if (turn.reasoning !== undefined && turn.reasoning !== previous.reasoning) return undefined;
    if (!isDeepStrictEqual(turn.toolCalls ?? [], parsedCalls(previous))) return undefined;
    if (!isDeepStrictEqual(before.tools, observation.tools)) return undefined;
    if (!isDeepStrictEqual(before.messages, observation.messages.slice(0, count))) return undefined;

    const whole = rendered ?? this.render(observation);
    const place = this.#placeOf(observation, count + 1, whole);
    if (place === undefined) return undefined;
    const end = Math.max(...this.#endTexts.map((text) => whole.slice(0, place).lastIndexOf(text)));
    if (end < 0) return undefined;
    // Tokenise the end of the turn too, because text may become different tokens at the start of a string.
    const suffix = this.encode(whole.slice(end));
    if (!this.endTokens.includes(suffix[0]!)) return undefined;
    const ended = this.endTokens.includes(action.at(-1)!);
    const added = suffix.subarray(ended ? 1 : 0);
    return Int32Array.from([...prompt, ...action, ...added]);
  }

  /**
   * What `whole` has after the prompt where the template now renders the past differently, as Mistral's drops the message of
   * the system. The last message before the turn is found in both; they must be equal from there to the end of the prompt.
   */
  #afterLast(prompt: string, whole: string, before: Observation, after: Observation): string | undefined {
    const last = before.messages.length - 1;
    const from = this.#placeOf(before, last, prompt);
    const to = this.#placeOf(after, last, whole, false);
    if (from === undefined || to === undefined || !whole.startsWith(prompt.slice(from), to)) return undefined;
    return whole.slice(to + prompt.length - from);
  }

  /**
   * A position inside the content of a message in the rendered conversation, before any end token in that content;
   * the end of the text if there is no such message. The position is found by rendering again with a mark in the
   * content. `undefined` if the mark does not show, or changes more than its own position.
   */
  #placeOf(
    observation: Observation,
    index: number,
    whole: string,
    addGenerationPrompt = true,
  ): number | undefined {
    const message = observation.messages[index];
    if (!message) return whole.length;
    const at = middleOf(message.content, this.#endTexts);
    const content = `${message.content.slice(0, at)}0${message.content.slice(at)}`;
    const messages = observation.messages.with(index, { ...message, content });
    const marked = this.render({ ...observation, messages }, addGenerationPrompt);
    const place = commonPrefix(whole, marked);
    return marked !== whole && marked.endsWith(whole.slice(place)) ? place : undefined;
  }
}

/** The checkpoint's templates. Some checkpoints have several named templates, one of them for tools. */
function templatesOf(given: Checkpoint['tokenizerConfig']['chat_template']): {
  template?: string | undefined;
  toolTemplate?: string | undefined;
} {
  if (!Array.isArray(given)) return { template: given ?? undefined };
  const named = (name: string) => given.find((each) => each.name === name)?.template;
  return { template: named('default'), toolTemplate: named('tool_use') };
}

function parseTemplate(folder: string, template: string, now: Date): ChatTemplate {
  try {
    return new ChatTemplate(template, now);
  } catch (error) {
    const message = `${folder}: the chat template cannot be parsed (${oneLine(messageOf(error))}): correct chat_template.jinja.`;
    throw new ToolEnvError('usage.checkpoint_unsupported', message);
  }
}

/** A message of a template, which may hold any text, as a short line. */
function oneLine(message: string): string {
  const line = message.slice(0, 300).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ');
  return message.length > 300 ? `${line}…` : line;
}
