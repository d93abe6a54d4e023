/** McpHooks: answer what a server asks its client, in the place of a user, a user's model and a user's folders. */
import { pathToFileURL } from 'node:url';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { deriveSeed, type JsonSchema, type Message, type Policy } from '@toolenv/core';
import { tryObject, unsafeInteger, validate } from '@toolenv/core/schemas';
import { implementation } from '../implementation.ts';
import { tasksExtension } from './task-calls.ts';

/** A form that the server shows to the user (MCP 2025-11-25, client/elicitation). */
export interface McpForm {
  message: string;
  /** Of the content that the user gives. */
  schema: JsonSchema;
  signal: AbortSignal;
}

/** What the user does with a form. */
export type McpFormAnswer =
  | { action: 'accept'; content: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel' };

/** A text that the server wants from a model (MCP 2025-11-25, client/sampling). */
export interface McpSample {
  /** Begins with the server's system message, if it gives one. Blocks that are not text are left out. */
  messages: Message[];
  maxTokens: number;
  temperature?: number;
  stop?: readonly string[];
  signal: AbortSignal;
}

/** Without a hook, the client does not have the capability, so servers do not ask. A hook that throws fails the calls in flight. */
export interface McpHooks {
  onElicit?(form: McpForm): McpFormAnswer | Promise<McpFormAnswer>;
  /** Returns the model's text. */
  onSample?(asked: McpSample): string | Promise<string>;
  /** Folders, or file URIs, in which the server may work (MCP 2025-11-25, client/roots). */
  roots?: readonly string[];
}

/** @param onError Called with what a hook throws. The server learns only that there is no answer. */
export function createClient(
  options: ClientOptions,
  hooks: McpHooks,
  onError: (error: unknown) => void,
): Client {
  const { onElicit, onSample, roots } = hooks;
  const capabilities = {
    ...(onElicit && { elicitation: { form: {} } }),
    ...(onSample && { sampling: {} }),
    ...(roots && { roots: {} }),
    extensions: tasksExtension,
  };
  const client = new Client(implementation, { ...options, capabilities });
  const answer = async <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      onError(error);
      throw new Error('The client has no answer.');
    }
  };
  if (onElicit) {
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq: { signal } }) => {
      if (!('requestedSchema' in params)) return { action: 'decline' };
      const schema = params.requestedSchema as JsonSchema;
      return answer(() => onElicit({ message: params.message, schema, signal }));
    });
  }
  if (onSample) {
    client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq: { signal } }) => {
      const { maxTokens, temperature, stopSequences: stop } = params;
      const asked: McpSample = {
        messages: messagesOf(params),
        maxTokens,
        ...(temperature !== undefined && { temperature }),
        ...(stop && { stop }),
        signal,
      };
      const text = await answer(() => onSample(asked));
      return { model: 'toolenv', role: 'assistant', content: { type: 'text', text }, stopReason: 'endTurn' };
    });
  }
  if (roots) {
    const listed = roots.map((root) => ({ uri: root.startsWith('file:') ? root : pathToFileURL(root).href }));
    client.setRequestHandler('roots/list', () => ({ roots: listed }));
  }
  return client;
}

interface Asked {
  systemPrompt?: string | undefined;
  messages: readonly { role: 'user' | 'assistant'; content: unknown }[];
}

function messagesOf({ systemPrompt, messages }: Asked): Message[] {
  const said = messages.map(({ role, content }): Message => {
    const texts = [content].flat().flatMap((block) => {
      const { type, text } = Object(block) as { type?: unknown; text?: unknown };
      return type === 'text' ? [String(text)] : [];
    });
    return { role, content: texts.join('\n') };
  });
  return systemPrompt === undefined ? said : [{ role: 'system', content: systemPrompt }, ...said];
}

export interface PolicyHooksOptions {
  /** Seeds the texts, together with their number. Default 1. */
  seed?: number;
  /** Tokens of an answer to a form. Default 512. */
  maxTokens?: number;
  /** Where the server does not say. Default 0. */
  temperature?: number;
}

/** Hooks for `connectMcp` and pools. A form is declined if the policy's answer does not fit its schema. */
export function policyHooks(
  policy: Policy,
  { seed = 1, maxTokens = 512, temperature = 0 }: PolicyHooksOptions = {},
): Required<Pick<McpHooks, 'onElicit' | 'onSample'>> {
  let count = 0;
  const write = async (
    messages: Message[],
    options: { maxTokens: number; temperature: number; signal: AbortSignal },
  ) => {
    const { text } = await policy.act(
      { messages, tools: [] },
      { ...options, seed: deriveSeed(seed, 'mcp-hook', count++) },
    );
    return text;
  };
  return {
    async onElicit({ message, schema, signal }): Promise<McpFormAnswer> {
      const content = `${message}\n\nAnswer with one JSON object that follows this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
      const text = await write([{ role: 'user', content }], { maxTokens, temperature, signal });
      const [, json = text] = /```(?:json)?\s*([\s\S]*?)```/.exec(text) ?? [];
      const given = tryObject(json.trim());
      const isExact = unsafeInteger(json) === undefined;
      if (!given || !isExact || validate(schema, given).length > 0) return { action: 'decline' };
      return { action: 'accept', content: given as Extract<McpFormAnswer, { action: 'accept' }>['content'] };
    },
    onSample: ({ messages, signal, ...asked }) => write(messages, { temperature, ...asked, signal }),
  };
}
