/** An agent without a framework: chat completions by fetch. */
import type { QuestionAgent } from '../../workshop/agents/question-agent.ts';

interface Said {
  content: string | null;
  tool_calls?: { id: string; function: { arguments: string } }[];
}

export const plainAgent: QuestionAgent = async ({
  question,
  instructions,
  search,
  baseURL,
  apiKey,
  signal,
}) => {
  const messages: object[] = [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ];
  const { description, inputSchema: parameters } = search;
  const tools = [{ type: 'function', function: { name: 'search', description, parameters } }];
  for (;;) {
    const response = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model: 'policy', messages, tools }),
      signal,
    });
    if (!response.ok) throw new Error(await response.text());
    const { choices } = (await response.json()) as { choices: { message: Said }[] };
    const { message } = choices[0]!;
    messages.push(message);
    if (!message.tool_calls) return message.content ?? '';
    for (const { id, function: called } of message.tool_calls)
      messages.push({
        role: 'tool',
        tool_call_id: id,
        content: await search.run(JSON.parse(called.arguments).query),
      });
  }
};
