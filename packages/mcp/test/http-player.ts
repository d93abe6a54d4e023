/** A client as a process of its own: begins an episode in a session at the URL, says so, and then does what its second argument says. */
import { connectMcp } from '@toolenv/mcp';
import { context } from './servers.ts';

const [, , url, deed, milliseconds] = process.argv;

if (deed === 'calls without a stream') {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const post = (body: object, session: Record<string, string> = {}) =>
    fetch(url!, { method: 'POST', headers: { ...headers, ...session }, body: JSON.stringify(body) });
  const clientInfo = { name: 'raw', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const begun = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id')! };
  const call = post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'wait' } }, session);
  call.then(() => process.stdout.write('playing\n'));
} else {
  const connection = await connectMcp({ url: url! }, { initialize: true });
  const call = (name: string, args = {}) =>
    connection.tools.find((tool) => tool.name === name)!.execute(args, context());
  await call('knock');
  process.stdout.write('playing\n');
  if (deed === 'calls') await call('wait');
  if (deed === 'thinks') await new Promise((resolve) => setTimeout(resolve, 60_000));
  if (deed === 'blocks') {
    // Answers nothing meanwhile, as a program that computes.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(milliseconds));
    const answered = await call('answer', { text: 'cat' });
    process.stdout.write(`${JSON.stringify(answered.content)}\n`);
    await connection.close();
  }
}
