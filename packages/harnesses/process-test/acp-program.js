/** An agent that speaks the Agent Client Protocol, well or in one of several bad ways. `[way]`, or the way in WAY. */
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { playTask } from './play-task.js';

const way = process.argv[2] ?? process.env.WAY;
if (way === 'dies') {
  console.error('no licence');
  process.exit(3);
}
if (way === 'floods')
  for (;;)
    if (!process.stdout.write('x'.repeat(2 ** 20)))
      await new Promise((resolve) => process.stdout.once('drain', resolve));
if (way === 'leaves a process') spawn('sleep', ['600'], { stdio: 'inherit' });
if (way === 'no JSON') console.log('Welcome!');

const servers = new Map();
agent({ name: 'small' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { mcpCapabilities: { http: way !== 'without HTTP' } },
  }))
  .onRequest(methods.agent.session.new, ({ params: { mcpServers } }) => {
    const sessionId = `session ${servers.size}`;
    servers.set(sessionId, mcpServers[0].url);
    return { sessionId };
  })
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    if (way === 'exits') process.exit(0);
    const say = (text) =>
      client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
      });
    await say('Let me see. ');
    if (way === 'lies') {
      await say('Done.');
      return { stopReason: 'end_turn' };
    }
    const said = await playTask(servers.get(sessionId), prompt[0].text, async (title) => {
      const toolCall = { toolCallId: title, title };
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: 'tool_call', ...toolCall },
      });
      const options = ['reject_once', 'allow_once'].map((kind) => ({ optionId: kind, name: kind, kind }));
      const { outcome } = await client.request(methods.client.session.requestPermission, {
        ...{ sessionId, toolCall, options },
      });
      if (outcome.optionId !== 'allow_once') throw new Error('The call was not allowed.');
    });
    if (way === 'stays silent') await new Promise(() => {});
    for (const half of [said.slice(0, 2), said.slice(2)]) await say(half);
    return { stopReason: 'end_turn' };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
