/** A client of chat completions, as small as clients are. */
import type { AgentContext } from '../src/index.ts';

export interface Said {
  role: 'assistant';
  content: string | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
}
export type Sent =
  | Said
  | { role: 'system' | 'user'; content: string }
  | { role: 'tool'; tool_call_id: string; content: string };

export const lookup = {
  type: 'function',
  function: {
    name: 'lookup',
    description: 'Looks a word up.',
    parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  },
};

type Door = Pick<AgentContext, 'baseURL' | 'apiKey' | 'fetch'>;

/** The whole response, whatever its status. */
export function post(
  { baseURL, apiKey, fetch }: Door,
  path: string,
  body: object,
  { headers = {}, signal }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(`${baseURL}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

/** @throws Error with the message of a refusal. */
export async function say(door: Door, messages: readonly Sent[], more: object = {}): Promise<Said> {
  const response = await post(door, '/chat/completions', {
    model: 'policy',
    messages,
    tools: [lookup],
    ...more,
  });
  const body = (await response.json()) as { choices: { message: Said }[]; error: { message: string } };
  if (!response.ok) throw new Error(body.error.message);
  return body.choices[0]!.message;
}

/** Answers the question with a tool that says the length of a word. */
export async function converse(
  door: Door,
  question: string,
  more: object = {},
  answer: (args: string) => string = lengthOf,
): Promise<string> {
  const messages: Sent[] = [{ role: 'user', content: question }];
  for (;;) {
    const said = await say(door, messages, more);
    messages.push(said);
    if (!said.tool_calls) return said.content ?? '';
    for (const { id, function: called } of said.tool_calls)
      messages.push({ role: 'tool', tool_call_id: id, content: answer(called.arguments) });
  }
}

export function lengthOf(args: string): string {
  return `${JSON.parse(args).word?.length}`;
}
