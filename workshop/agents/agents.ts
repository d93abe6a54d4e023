/** The agents by name. A framework is loaded when one of its agents is, so that Node 20 never loads what needs Node 22. */
import type { QuestionAgent } from './question-agent.ts';

export interface AgentEntry {
  name: string;
  /** The oldest major version of Node that its packages declare. */
  node: 20 | 22;
  /** What it speaks: chat completions, Responses, or Anthropic's messages. */
  wire: 'chat' | 'responses' | 'anthropic';
  load(): Promise<QuestionAgent>;
}

export const agents: readonly AgentEntry[] = [
  entry('ai-sdk-6-compatible', 20, 'chat', 'ai-sdk-6', 'compatible'),
  entry('ai-sdk-6-chat', 20, 'chat', 'ai-sdk-6', 'chat'),
  entry('ai-sdk-6-responses', 20, 'responses', 'ai-sdk-6', 'responses'),
  entry('ai-sdk-6-anthropic', 20, 'anthropic', 'ai-sdk-6', 'anthropic'),
  entry('ai-sdk-7-compatible', 22, 'chat', 'ai-sdk-7', 'compatible'),
  entry('ai-sdk-7-chat', 22, 'chat', 'ai-sdk-7', 'chat'),
  entry('ai-sdk-7-responses', 22, 'responses', 'ai-sdk-7', 'responses'),
  entry('ai-sdk-7-anthropic', 22, 'anthropic', 'ai-sdk-7', 'anthropic'),
  entry('openai-6-run-tools', 20, 'chat', 'openai-6', 'runTools'),
  entry('openai-6-chat-loop', 20, 'chat', 'openai-6', 'chatLoop'),
  entry('openai-6-responses-loop', 20, 'responses', 'openai-6', 'responsesLoop'),
  entry('openai-7-run-tools', 22, 'chat', 'openai-7', 'runTools'),
  entry('openai-7-chat-loop', 22, 'chat', 'openai-7', 'chatLoop'),
  entry('openai-7-responses-loop', 22, 'responses', 'openai-7', 'responsesLoop'),
  entry('openai-agents-chat', 22, 'chat', 'openai-agents-0.20', 'chat'),
  entry('openai-agents-responses', 22, 'responses', 'openai-agents-0.20', 'responses'),
  entry('openai-agents-chat-node-20', 20, 'chat', 'openai-agents-0.14', 'chat'),
  entry('openai-agents-responses-node-20', 20, 'responses', 'openai-agents-0.14', 'responses'),
  entry('langgraph-react-agent', 22, 'chat', 'langchain-openai-1.6', 'reactAgent'),
  entry('langchain-agent', 22, 'chat', 'langchain-openai-1.6', 'agent'),
  entry('langchain-agent-responses', 22, 'responses', 'langchain-openai-1.6', 'agentOnResponses'),
  entry('langgraph-react-agent-node-20', 20, 'chat', 'langchain-openai-1.5', 'reactAgent'),
  entry('langchain-agent-node-20', 20, 'chat', 'langchain-openai-1.5', 'agent'),
  entry('langchain-agent-responses-node-20', 20, 'responses', 'langchain-openai-1.5', 'agentOnResponses'),
  entry('mastra-url', 22, 'chat', 'mastra', 'url'),
  entry('mastra-ai-sdk', 22, 'chat', 'mastra', 'aiSdkModel'),
  entry('shell', 20, 'chat', 'shell', 'shell'),
];

function entry(
  name: string,
  node: AgentEntry['node'],
  wire: AgentEntry['wire'],
  file: string,
  variable: string,
): AgentEntry {
  // A path that tsc cannot follow: whoever imports this list need not have the frameworks installed to check its types.
  const path = `./${file}.ts`;
  return { name, node, wire, load: async () => (await import(path))[variable] };
}
