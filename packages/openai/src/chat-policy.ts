/** ChatPolicy: a model behind `/chat/completions`, with the server's tool calls or with tools as text. For evaluation. */
import {
  type Action,
  isParseFailure,
  type Observation,
  type ParseFailure,
  type Policy,
  type PolicySpec,
  type SamplingOptions,
  type ToolCall,
  ToolEnvError,
} from '@toolenv/core';
import { boundCall, hermesFormat } from '@toolenv/core/tools';
import { errorOf } from './refusal.ts';
import { samplingFields } from './sampling-fields.ts';
import type { Json, Server } from './server.ts';
import { withTextTools } from './text-tools.ts';
import { wireMessages, wireTools } from './wire-messages.ts';

export interface ChatPolicyParts {
  server: Server;
  spec: PolicySpec;
  model: string;
  refused: ReadonlySet<string>;
  /** Whether calls are the server's own. Otherwise tools and calls are text, in Hermes' format. */
  nativeTools: boolean;
}

export class ChatPolicy implements Policy {
  readonly spec: PolicySpec;
  readonly #parts: ChatPolicyParts;

  constructor(parts: ChatPolicyParts) {
    this.spec = parts.spec;
    this.#parts = parts;
  }

  async act(observation: Observation, options: SamplingOptions): Promise<Action> {
    const { server, model, refused, spec } = this.#parts;
    const { signal } = options;
    const stop = (options.stop ?? []).filter((text) => text !== '');
    let { maxTokens } = options;
    for (;;) {
      const { body, refusal } = await server.ask(
        'chat/completions',
        {
          model,
          ...this.#conversation(observation),
          ...samplingFields({ ...options, maxTokens }, refused, spec.name),
          ...(stop.length > 0 && { stop }),
        },
        { signal },
      );
      if (body) return this.#action(body, observation);
      const { room = 0 } = refusal;
      const spoken = observation.messages.some(({ role }) => role === 'assistant');
      if (room < 1 || room >= maxTokens) throw errorOf(refusal, spec.name, spoken);
      maxTokens = room;
    }
  }

  #conversation(observation: Observation): Json {
    if (!this.#parts.nativeTools) return { messages: wireMessages(withTextTools(observation)) };
    const { messages, tools } = observation;
    return { messages: wireMessages(messages), ...(tools.length > 0 && { tools: wireTools(tools) }) };
  }

  #action(body: Json, { tools }: Observation): Action {
    const { spec } = this.#parts;
    const choice = Object(Array.isArray(body.choices) ? body.choices[0] : undefined);
    const { message } = choice;
    if (typeof message !== 'object' || message === null) {
      throw new ToolEnvError('infrastructure.openai_reply', `${spec.name} answers without a message.`);
    }
    // Some servers cut a prompt that is too long, without a word.
    const { prompt_tokens: prompt } = Object(body.usage);
    if (typeof prompt === 'number' && prompt >= spec.contextLength) {
      const remedy = `and the context has ${spec.contextLength}: shorten the context`;
      throw new ToolEnvError('context.overflow', `${spec.name}: the prompt has ${prompt} tokens, ${remedy}.`);
    }
    const content = typeof message.content === 'string' ? message.content : '';
    const native = readCalls(message.tool_calls);
    // A parser of the server leaves in the text what it does not understand.
    const written = tools.length > 0 ? hermesFormat.parse(content) : { text: content.trim(), toolCalls: [] };
    const toolCalls = [...native, ...written.toolCalls].map((call, index) =>
      isParseFailure(call) ? call : { ...call, id: `call-${index}` },
    );
    const failed = native.filter(isParseFailure).map(({ text }) => text);
    const text = [written.text, ...failed].filter((part) => part !== '').join('\n');
    const stopReason =
      choice.finish_reason === 'length' ? 'length' : toolCalls.length > 0 ? 'tool_call' : 'stop';
    return { text, toolCalls, stopReason };
  }
}

/** Calls of one turn beyond it are not read. */
const mostCalls = 256;

function readCalls(given: unknown): (ToolCall | ParseFailure)[] {
  return Array.isArray(given) ? given.slice(0, mostCalls).map(readCall) : [];
}

function readCall(given: unknown): ToolCall | ParseFailure {
  const { name, arguments: written } = Object(Object(given).function);
  const text = `${name}(${typeof written === 'string' ? written : JSON.stringify(written)})`;
  if (typeof name !== 'string') return { parseFailure: 'The call must have a name.', text };
  let args: unknown = written;
  if (typeof written === 'string') {
    try {
      // A call without arguments may come with an empty text.
      args = written.trim() === '' ? {} : JSON.parse(written);
    } catch (error) {
      return { parseFailure: `Not JSON: ${(error as Error).message}.`, text };
    }
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return { parseFailure: 'The arguments must be an object.', text };
  }
  return boundCall({ id: 'call', name, arguments: args as Record<string, unknown> });
}
