/** The last Agents SDK for Node 20. */
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents-for-node-20';
import { openaiAgentsSdk } from './openai-agents.ts';

export const { chat, responses } = openaiAgentsSdk({ Agent, OpenAIProvider, Runner, tool } as never);
