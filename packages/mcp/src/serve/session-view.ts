/** sessionView: shows one episode, which the client's session or the URL names. */
import {
  type GetPromptResult,
  type PromptMessage,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import type { Message, Observation } from '@toolenv/core';
import type { AgentView } from './agent-server.ts';
import { answerName, type EnvSession } from './env-session.ts';

export function sessionView(session: EnvSession): AgentView {
  return {
    instructions: `The environment ${session.name}. The prompt "observation" has the task; use the tools to solve it, and give the answer with ${answerName}.`,
    toolsChange: true,
    prompts: [{ name: 'observation', description: 'The current conversation of the environment.' }],
    listTools: (signal) => session.listTools(signal),
    call: (tool, args, request) => session.call(tool, args, request),
    async prompt(prompt, _, signal) {
      if (prompt !== 'observation') {
        const message = `No prompt "${prompt}": ask for "observation".`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }
      return toPrompt(await session.observe(signal));
    },
  };
}

export function toPrompt({ messages }: Observation): GetPromptResult {
  return { messages: messages.map(toPromptMessage) };
}

/** MCP prompts have only the roles user and assistant. */
function toPromptMessage({ role, content }: Message): PromptMessage {
  return { role: role === 'assistant' ? 'assistant' : 'user', content: { type: 'text', text: content } };
}
