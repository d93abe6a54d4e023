// my-agent.ts
import { instructions, search } from './search.ts';

const tool = {
  name: 'search',
  description: 'Find the article with a title.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};

interface Said {
  content: string | null;
  tool_calls?: { id: string; function: { arguments: string } }[];
}

export async function answer(question: string, baseURL: string, apiKey: string, signal: AbortSignal) {
  const messages: object[] = [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ];
  for (;;) {
    const response = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'policy', messages, tools: [{ type: 'function', function: tool }] }),
      signal,
    });
    if (!response.ok) throw new Error(await response.text());
    const { choices } = (await response.json()) as { choices: [{ message: Said }] };
    const [{ message }] = choices;
    messages.push(message);
    if (!message.tool_calls) return message.content ?? '';
    for (const { id, function: called } of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: id, content: search(JSON.parse(called.arguments).query) });
  }
}
