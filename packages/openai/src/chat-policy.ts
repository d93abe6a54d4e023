/** chatPolicy: a model behind `/chat/completions`, with the server's tool calls or with tools as text. For evaluation. */
import { type Action, type Observation, type Policy, type PolicySpec, ToolEnvError } from '@toolenv/core';
import type { Json } from './answer.ts';
import { readTurn } from './read-turn.ts';
import { errorOf } from './refusal.ts';
import { samplingFields } from './sampling-fields.ts';
import type { Server } from './server.ts';
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

export function chatPolicy({ server, spec, model, refused, nativeTools }: ChatPolicyParts): Policy {
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
          ...conversationOf(observation, nativeTools),
          ...samplingFields({ ...options, maxTokens }, refused, spec.name),
          ...(stop.length > 0 && { stop }),
        };
        const { body, refusal } = await server.ask('chat/completions', fields, {
          signal,
          sample: options.seed,
          usage,
        });
        if (body) return { ...actionOf(body, observation, spec), usage: usage.turn };
        const { room = 0 } = refusal;
        const spoken = observation.messages.some(({ role }) => role === 'assistant');
        if (room < 1 || room >= maxTokens) throw errorOf(refusal, spec.name, spoken);
        maxTokens = room;
      }
    },
  };
}

function conversationOf(observation: Observation, nativeTools: boolean): Json {
  if (!nativeTools) return { messages: wireMessages(withTextTools(observation)) };
  const { messages, tools } = observation;
  return { messages: wireMessages(messages), ...(tools.length > 0 && { tools: wireTools(tools) }) };
}

function actionOf(body: Json, { tools }: Observation, spec: PolicySpec): Action {
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
  const content = typeof message.content === 'string' ? message.content : '';
  const given: unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const calls = given.map((call) => Object(Object(call).function));
  return readTurn({ content, calls, isCut: choice.finish_reason === 'length' }, tools.length > 0);
}
