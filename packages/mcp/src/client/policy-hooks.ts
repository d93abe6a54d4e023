/** policyHooks: a policy answers the forms of a server, and writes the texts that the server wants from a model. */
import { deriveSeed, type Message, type Policy } from '@toolenv/core';
import { tryObject, unsafeInteger, validate } from '@toolenv/core/schemas';
import type { McpFormAnswer, McpHooks } from './mcp-hooks.ts';

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
