/** The newest @langchain/openai, which needs Node 22. */
import { ChatOpenAI } from '@langchain/openai';
import { langchainAgents } from './langchain.ts';

export const { reactAgent, agent, agentOnResponses } = langchainAgents(ChatOpenAI);
