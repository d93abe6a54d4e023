/** The newest Agents SDK, whose openai needs Node 22. */
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { openaiAgentsSdk } from './openai-agents.ts';

export const { chat, responses } = openaiAgentsSdk({ Agent, OpenAIProvider, Runner, tool });
