/** An MCP server over stdio whose tools do what their argument says, which is often to die. It counts the calls of `work`; `forget` begins again. */
import { createInterface } from 'node:readline';

const inputSchema = { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] };
const tools = [
  { name: 'work', description: 'Works.', inputSchema },
  { name: 'forget', description: 'Forgets all calls.', inputSchema },
];
let calls = 0;
const text = (said) => ({ content: [{ type: 'text', text: said }] });
const protocol = { protocolVersion: '2025-06-18', capabilities: { tools: {} } };

function work(what) {
  switch (what) {
    case 'dies':
      return process.kill(process.pid, 'SIGKILL');
    case 'answers and dies':
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 5);
      return text(`call ${calls}`);
    case 'hangs':
      // As deaf as an endless loop, without a core of its own.
      return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    case 'forgets':
      return undefined;
    case 'answers with a null block':
      return { content: [null] };
    case 'answers without content':
      return { content: 'done' };
    case 'answers with 10 MB':
      return text('huge result '.repeat(10 * 2 ** 16));
    case 'reports an error':
      return { ...text('There is no such account.'), isError: true };
    case 'chatters':
      process.stdout.write('this is not a message\n{"jsonrpc":"2.0"}\n[]\nnull\n');
      return text(`call ${calls}`);
    default:
      return text(`call ${calls}`);
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const reply = (result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  if (method === 'initialize') reply({ ...protocol, serverInfo: { name: 'mortal', version: '1.0.0' } });
  else if (method === 'tools/list') reply({ tools });
  else if (method === 'tools/call') {
    calls = params.name === 'forget' ? 0 : calls + 1;
    const result = work(params.arguments.what);
    if (result) reply(result);
  } else reply({});
});
