/**
 * A program that knows nothing of toolenv: `OPENAI_BASE_URL=… OPENAI_API_KEY=… SEARCH_URL=… node program.mjs QUESTION` prints its answer. A POST of
 * `{ "query": "…" }` to SEARCH_URL answers with text.
 */
const { OPENAI_BASE_URL, OPENAI_API_KEY, SEARCH_URL } = process.env;
const search = {
  name: 'search',
  description: 'Finds documents.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};
const messages = [
  {
    role: 'system',
    content: 'Answer the question. Use search to find documents. Put the answer in <answer></answer>.',
  },
  { role: 'user', content: process.argv[2] },
];
for (;;) {
  const body = { model: 'policy', messages, tools: [{ type: 'function', function: search }] };
  const completion = await post(`${OPENAI_BASE_URL}/chat/completions`, JSON.stringify(body));
  const { message } = JSON.parse(completion).choices[0];
  messages.push(message);
  if (!message.tool_calls) {
    process.stdout.write(message.content ?? '');
    break;
  }
  for (const call of message.tool_calls) {
    const content = await post(SEARCH_URL, call.function.arguments);
    messages.push({ role: 'tool', tool_call_id: call.id, content });
  }
}

async function post(url, body) {
  const headers = { authorization: `Bearer ${OPENAI_API_KEY}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
