/** An agent that answers the questions of bridge-v1 with its search, as an environment. */
import { type EnvHandle, openEnv, type Tool } from '@toolenv/core';
import { exactMatch, type QaRecord, readAnswer } from '@toolenv/envs-qa';
import { defineAgentEnv } from '@toolenv/gateway';
import { createSearchTool } from '@toolenv/tools-search';

/** What an agent is given, whatever framework it is written in. */
export interface Asked {
  question: string;
  instructions: string;
  search: { description: string; inputSchema: Record<string, unknown>; run(query: string): Promise<string> };
  baseURL: string;
  apiKey: string;
  signal: AbortSignal;
}

const instructions =
  'Answer the question. Use search to find documents. Put the answer in <answer></answer>.';

/**
 * @param answer The agent. It returns the text of its last answer.
 * @param entry The file of the agent, by which a resumed run knows it.
 * @param options.concurrent The most episodes at once. Default: as many as a step has.
 */
export function bridgeAgent(
  name: string,
  entry: string,
  answer: (asked: Asked) => Promise<string>,
  { concurrent = true }: { concurrent?: number | true } = {},
) {
  return defineAgentEnv({
    name,
    description: 'Two-hop questions about a synthetic world, answered by an agent.',
    entry,
    capabilities: { seedable: true, concurrent },
    limits: { maxTurns: 5 },
    malformed: 'correct',
    setup: ({ seed }) => openBridge(seed),
    teardown: ({ env }) => env.close(),
    tasks: ({ shared }) => shared.env.tasks,
    agent: ({ task, shared: { search }, baseURL, apiKey, signal }) =>
      answer({ question: task.question, instructions, search, baseURL, apiKey, signal }),
    rewards: {
      em: {
        kind: 'outcome',
        score: ({ result, task }) => exactMatch(readAnswer(result ?? '').answer ?? '', task.answer),
      },
    },
    oracle: ({ answer: gold }) => [`<answer>${gold}</answer>`],
  });
}

/** The tasks and the search of bridge-v1. */
async function openBridge(seed: number) {
  let tool: Tool | undefined;
  const tools = {
    search: async (material: Parameters<typeof createSearchTool>[0]) => {
      tool = await createSearchTool(material);
      return tool;
    },
  };
  const env = await openEnv('@toolenv/envs-qa/bridge-v1', { topK: 2 }, { seed, tools: tools as never });
  const { description, inputSchema } = tool!;
  const run = async (query: string) => {
    const { signal } = new AbortController();
    const { content, isError } = await tool!.execute({ query }, { signal } as never);
    return (isError ? 'Error: ' : '') + content.map((block) => Object(block).text).join('\n');
  };
  return {
    env: env as EnvHandle<QaRecord>,
    search: { description, inputSchema: inputSchema as Record<string, unknown>, run },
  };
}
