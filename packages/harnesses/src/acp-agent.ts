/** acpAgent: any program that speaks the Agent Client Protocol, version 1 (agentclientprotocol.com), as editors start it. */
import { Readable, Writable } from 'node:stream';
import {
  type ClientContext,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk';
import { ToolEnvError } from '@toolenv/core';
import { converse } from '@toolenv/gateway';
import { type Harness, type HarnessJob, orMissing, placeOf, serverName } from './harness.ts';

/** A program that speaks the protocol over its standard streams. */
export interface AcpProgram extends Pick<Harness, 'name' | 'package'> {
  /** The program and its arguments: `['opencode', 'acp']`. */
  program: readonly [string, ...string[]];
  /** Further variables. The program has those of `command`, and the home of the episode. */
  env?(job: HarnessJob): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

/** In bytes. An agent may send the files that it has read. */
const maxMessageBytes = 2 ** 24;

/**
 * The agent may do what it asks for. Its last message, after its last tool call, is the answer. An episode throws `usage.agent_mcp` if the agent
 * takes no MCP server over HTTP, and the environment has tools.
 */
export function acpAgent({ program, env, ...harness }: AcpProgram): Harness {
  return {
    ...harness,
    confines: true,
    async run(job) {
      const place = placeOf(program[0], job, (await env?.(job)) ?? {});
      const talk = converse(program, place, job, ({ input, output }) => {
        let said = '';
        const stream = ndJsonStream(
          Writable.toWeb(input),
          Readable.toWeb(output) as ReadableStream<Uint8Array>,
          { maxMessageBytes },
        );
        return client({ name: 'toolenv' })
          .onRequest(methods.client.session.requestPermission, ({ params: { options } }) => {
            const allowed = options.find(({ kind }) => kind.startsWith('allow'));
            return {
              outcome: allowed
                ? { outcome: 'selected', optionId: allowed.optionId }
                : { outcome: 'cancelled' },
            };
          })
          .onNotification(methods.client.session.update, ({ params: { update } }) => {
            if (update.sessionUpdate === 'tool_call') said = '';
            if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
              said += update.content.text;
          })
          .connectWith(stream, async (agent) => {
            await prompt(agent, job);
            return said.trim();
          });
      });
      return orMissing(harness, program[0], talk);
    },
  };

  async function prompt(agent: ClientContext, { ask, cwd, tools }: HarnessJob): Promise<void> {
    const { agentCapabilities } = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    if (tools !== undefined && !agentCapabilities?.mcpCapabilities?.http) {
      const message = `${harness.package} takes no MCP server over HTTP: play an environment without tools, or another agent.`;
      throw new ToolEnvError('usage.agent_mcp', message);
    }
    const { sessionId } = await agent.request(methods.agent.session.new, {
      cwd,
      mcpServers: tools === undefined ? [] : [{ type: 'http', name: serverName, url: tools, headers: [] }],
    });
    await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: ask }] });
  }
}
