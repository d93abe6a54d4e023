/** bridge-v1 twice: as its ToolEnv, and as an environment of an agent that answers the same questions with the same search. */
import { type EnvHandle, openEnv, type Tool } from '@toolenv/core';
import { exactMatch, goldTitles, type QaRecord, readAnswer } from '@toolenv/envs-qa';
import { defineAgentEnv, type Malformed } from '@toolenv/gateway';
import { createSearchTool } from '@toolenv/tools-search';
import type { QuestionAgent } from '../../workshop/agents/question-agent.ts';

/** What bridge-v1 says to the policy first. */
const instructions =
  'Answer the question. Use search to find documents. Put the answer in <answer></answer>.';

export interface BridgeAgentsOptions {
  seed?: number;
  malformed?: Malformed;
  /** Whether the agent streams. Default false. */
  stream?: boolean;
  /** Default 5, as of bridge-v1. */
  maxTurns?: number;
  /** Called around the agent's searches, to delay or to count them. */
  onSearch?(query: string): Promise<void> | void;
}

/** Both environments, open. */
export async function openBridge(
  agent: QuestionAgent,
  { seed = 1, malformed = 'text', maxTurns = 5, stream = false, onSearch }: BridgeAgentsOptions = {},
): Promise<{ inProcess: EnvHandle<QaRecord>; byAgent: EnvHandle<QaRecord>; close(): Promise<void> }> {
  let search: Tool | undefined;
  const tools = {
    search: async (material: Parameters<typeof createSearchTool>[0]) => {
      search = await createSearchTool(material);
      return search;
    },
  };
  const inProcess = (await openEnv(
    '@toolenv/envs-qa/bridge-v1',
    { topK: 2 },
    { seed, tools: tools as never },
  )) as EnvHandle<QaRecord>;
  const { description, inputSchema } = search!;
  const run = async (query: string): Promise<string> => {
    await onSearch?.(query);
    const { content, isError } = await search!.execute({ query }, {
      signal: new AbortController().signal,
    } as never);
    return (isError ? 'Error: ' : '') + content.map((block) => Object(block).text).join('\n');
  };
  const definition = defineAgentEnv({
    name: 'bridge-agent-v1',
    description: 'Two-hop questions about a synthetic world, answered by an agent.',
    capabilities: { seedable: true },
    limits: { maxTurns, toolTimeout: 10_000 },
    malformed,
    tasks: inProcess.tasks,
    state: ({ task }) => ({ missing: new Set(goldTitles(task)) }),
    agent: ({ task, baseURL, apiKey, signal }) =>
      agent(
        {
          question: task.question,
          instructions,
          search: { description, inputSchema, run },
          baseURL,
          apiKey,
          signal,
        },
        { stream, maxTurns },
      ),
    rewards: {
      em: {
        kind: 'outcome',
        score: ({ result, task }) => exactMatch(readAnswer(result ?? '').answer ?? '', task.answer),
      },
      retrieved: {
        kind: 'process',
        weight: 0.1,
        score({ turnCalls, state: { missing }, task }) {
          const searches = turnCalls.filter(({ result }) => result !== undefined);
          if (searches.length === 0) return null;
          const found = [...missing].filter((title) =>
            searches.some(({ text }) => text.split('\n').some((line) => line.startsWith(`${title}: `))),
          );
          for (const title of found) missing.delete(title);
          return found.length / goldTitles(task).length;
        },
      },
    },
  });
  const byAgent = await openEnv(definition);
  const close = async () => {
    await byAgent.close();
    await inProcess.close();
  };
  return { inProcess, byAgent, close };
}
