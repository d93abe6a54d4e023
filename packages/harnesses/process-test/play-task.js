/** The loop of a small agent: asks the model, calls the tools of an MCP server, and returns the last words. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** @param onCall Told of each call before it is made. */
export async function playTask(url, task, onCall = async () => {}) {
  const client = new Client({ name: 'agent', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  const functions = tools.map(({ name, description, inputSchema: parameters }) => {
    return { type: 'function', function: { name, description, parameters } };
  });
  const messages = [{ role: 'user', content: task }];
  for (;;) {
    const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
      body: JSON.stringify({ model: 'policy', messages, tools: functions }),
    });
    const { message } = (await response.json()).choices[0];
    messages.push(message);
    if (!message.tool_calls?.length) {
      await client.close();
      return message.content;
    }
    for (const { id, function: call } of message.tool_calls) {
      await onCall(call.name);
      const { content } = await client.callTool({ name: call.name, arguments: JSON.parse(call.arguments) });
      messages.push({ role: 'tool', tool_call_id: id, content: content.map(({ text }) => text).join('\n') });
    }
  }
}
