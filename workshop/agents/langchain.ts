/**
 * LangGraph's createReactAgent and LangChain's createAgent. Streaming goes through the agent: with `streaming: true` the model would
 * download an encoding to estimate tokens.
 */
import { type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createAgent } from 'langchain';
import type { QuestionAgent, QuestionAgentContext } from './question-agent.ts';

/** The class, because its versions need different versions of Node. */
type ChatOpenAI = typeof import('@langchain/openai').ChatOpenAI;

export function langchainAgents(ChatOpenAI: ChatOpenAI): {
  reactAgent: QuestionAgent;
  agent: QuestionAgent;
  agentOnResponses: QuestionAgent;
} {
  const modelFor = ({ baseURL, apiKey }: QuestionAgentContext, useResponsesApi = false) =>
    new ChatOpenAI({ model: 'policy', apiKey, configuration: { baseURL }, useResponsesApi });
  const agentWith = ({ useResponsesApi }: { useResponsesApi: boolean }): QuestionAgent => {
    return async (context, options) => {
      const model = modelFor(context, useResponsesApi);
      const agent = createAgent({ model, tools: [searchTool(context)], systemPrompt: context.instructions });
      return await ask(agent as unknown as Graph, context, options);
    };
  };
  const reactAgent: QuestionAgent = async (context, options) => {
    const tools = [searchTool(context)];
    const agent = createReactAgent({ llm: modelFor(context), tools, prompt: context.instructions });
    return await ask(agent as unknown as Graph, context, options);
  };
  return {
    reactAgent,
    agent: agentWith({ useResponsesApi: false }),
    agentOnResponses: agentWith({ useResponsesApi: true }),
  };
}

function searchTool({ search }: QuestionAgentContext) {
  return tool(async (input) => await search.run((input as { query: string }).query), {
    name: 'search',
    description: search.description,
    schema: search.inputSchema,
  });
}

interface State {
  messages: BaseMessage[];
}

/** What both agents share. Their own types depend on their tools. */
interface Graph {
  invoke(input: State, config: object): Promise<State>;
  stream(input: State, config: object): Promise<AsyncIterable<[mode: 'messages' | 'values', part: unknown]>>;
}

async function ask(
  agent: Graph,
  { question, signal }: QuestionAgentContext,
  { stream, maxTurns }: { stream: boolean; maxTurns: number },
): Promise<string> {
  const input = { messages: [new HumanMessage(question)] };
  // A turn is a step of the model and a step of its tools.
  const config = { signal, recursionLimit: 2 * maxTurns };
  let state: State = input;
  if (!stream) state = await agent.invoke(input, config);
  else {
    for await (const [mode, part] of await agent.stream(input, {
      ...config,
      streamMode: ['messages', 'values'],
    }))
      if (mode === 'values') state = part as State;
  }
  return state.messages.at(-1)!.text;
}
