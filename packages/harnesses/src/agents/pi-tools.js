/**
 * An extension of Pi, which has no client for MCP: registers the tools of the server at `TOOLENV_TOOLS` (MCP 2025-11-25, Streamable HTTP). The model
 * has them, and those of Pi that `TOOLENV_OWN` names.
 */

let session;
let count = 0;

async function send(message, signal) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  if (session) headers['mcp-session-id'] = session;
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  const response = await fetch(process.env.TOOLENV_TOOLS, { method: 'POST', headers, body, signal });
  session ??= response.headers.get('mcp-session-id');
  const text = await response.text();
  if (message.id === undefined) return undefined;
  const answers = text.startsWith('{')
    ? [text]
    : [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => data);
  const answer = answers.map((each) => JSON.parse(each)).find(({ id }) => id === message.id);
  if (!answer?.result)
    throw new Error(answer?.error?.message ?? `The server answers with status ${response.status}.`);
  return answer.result;
}

const ask = (method, params, signal) => send({ id: ++count, method, params }, signal);

export default async function (pi) {
  const clientInfo = { name: 'toolenv', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  await send({ method: 'notifications/initialized' });
  const { tools } = await ask('tools/list', {});
  for (const { name, description, inputSchema } of tools) {
    pi.registerTool({
      name,
      label: name,
      description,
      parameters: inputSchema,
      async execute(_id, args, signal) {
        const { content, isError } = await ask('tools/call', { name, arguments: args }, signal);
        if (isError) throw new Error(content.map(({ text }) => text).join('\n'));
        return { content, details: {} };
      },
    });
  }
  const own = (process.env.TOOLENV_OWN ?? '').split(',').filter(Boolean);
  pi.on('session_start', () => pi.setActiveTools([...tools.map(({ name }) => name), ...own]));
}
