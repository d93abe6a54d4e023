/** chatPolicy: a model behind `/chat/completions`, with the server's tool calls or with tools as text. For evaluation. */
import { type Observation, type Policy, type PolicySpec, ToolEnvError } from '@toolenv/core';
import { contentText } from '@toolenv/core/schemas';
import { functionTools, withTextTools } from '@toolenv/core/tools';
import { samplingFields } from './capabilities.ts';
import { errorOf, type Json } from './refusal.ts';
import type { Server } from './server.ts';
import { readTurn, type Said, wireMessages } from './wire-messages.ts';

export interface ChatPolicyParts {
  server: Server;
  spec: PolicySpec;
  model: string;
  refused: ReadonlySet<string>;
  /** Whether calls are the server's own. Otherwise tools and calls are text, in Hermes' format. */
  nativeTools: boolean;
}

export function chatPolicy({ server, spec, model, refused, nativeTools }: ChatPolicyParts): Policy {
  /** Whether the server gives thoughts apart from the text. Only such a server is given them back: others may refuse the field. */
  let givesReasoning = false;
  return {
    spec,
    async act(observation, options) {
      const { signal } = options;
      const stop = (options.stop ?? []).filter((text) => text !== '');
      let { maxTokens } = options;
      const usage = server.usage.part();
      for (;;) {
        const fields = {
          model,
          ...conversationOf(observation, nativeTools, givesReasoning),
          ...samplingFields({ ...options, maxTokens }, refused, spec.name),
          ...(stop.length > 0 && { stop }),
        };
        const { body, refusal } = await server.ask('chat/completions', fields, {
          signal,
          sample: options.seed,
          usage,
        });
        if (body) {
          const said = saidOf(body, spec);
          givesReasoning ||= said.reasoning !== undefined;
          return { ...readTurn(said, observation.tools), usage: usage.turn };
        }
        const { room = 0 } = refusal;
        const spoken = observation.messages.some(({ role }) => role === 'assistant');
        if (room < 1 || room >= maxTokens) throw errorOf(refusal, spec.name, spoken);
        maxTokens = room;
      }
    },
  };
}

function conversationOf(observation: Observation, nativeTools: boolean, givesReasoning: boolean): Json {
  const options = { reasoning: givesReasoning };
  if (!nativeTools) return { messages: wireMessages(withTextTools(observation), options) };
  const { messages, tools } = observation;
  return {
    messages: wireMessages(messages, options),
    ...(tools.length > 0 && { tools: functionTools(tools) }),
  };
}

function saidOf(body: Json, spec: PolicySpec): Said {
  const choice = Object(Array.isArray(body.choices) ? body.choices[0] : undefined);
  const { message } = choice;
  if (typeof message !== 'object' || message === null) {
    throw new ToolEnvError('infrastructure.model_reply', `${spec.name} answers without a message.`);
  }
  // Some servers cut a prompt that is too long, without a word.
  const { prompt_tokens: prompt } = Object(body.usage);
  if (typeof prompt === 'number' && prompt >= spec.contextLength) {
    const remedy = `and the context has ${spec.contextLength}: shorten the context`;
    throw new ToolEnvError('context.overflow', `${spec.name}: the prompt has ${prompt} tokens, ${remedy}.`);
  }
  const given: unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const calls = given.map((call) => Object(Object(call).function));
  // vLLM, SGLang and DeepSeek have the first name, OpenRouter and newer servers the second.
  const reasoning = [message.reasoning_content, message.reasoning].find(
    (each) => typeof each === 'string' && each !== '',
  );
  return {
    content: contentText(message.content) ?? '',
    calls,
    isCut: choice.finish_reason === 'length',
    ...(reasoning !== undefined && { reasoning }),
  };
}
