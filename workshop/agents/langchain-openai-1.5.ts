/** The last @langchain/openai for Node 20. */
import { ChatOpenAI } from '@langchain/openai-for-node-20';
import { langchainAgents } from './langchain.ts';

export const { reactAgent, agent, agentOnResponses } = langchainAgents(ChatOpenAI as never);
