/** serveTool: `toolenv serve --tool search=<reference>`, which serves a search tool to clients of Search-R1 and Agent-R1. */
import { ToolEnvError } from '@toolenv/core';
import { toolFactory } from '@toolenv/core/plugins';
import type { ServeOptions } from '@toolenv/serving';
import { importPackage } from '../flags/import-optional.ts';

/** The port of Search-R1's own server. */
export const searchPort = 8_000;
/** Hits per query where a request does not say how many. */
const defaultTopK = 5;

/**
 * @param tools Role → reference.
 * @throws ToolEnvError `usage.arguments` for a role other than `search`, `usage.not_a_retriever` for a tool without a retriever.
 */
export async function serveTool(
  tools: Record<string, string>,
  options: ServeOptions,
): Promise<{ url: string; name: string; close(): Promise<void> }> {
  const { search: name, ...others } = tools;
  if (name === undefined || Object.keys(others).length > 0) {
    const message = 'Without an environment, serve one tool: --tool search=<reference>.';
    throw new ToolEnvError('usage.arguments', message);
  }
  const { retrieverOf, serveSearch } = await importPackage('tools-search', 'toolenv serve --tool');
  const create = await toolFactory(name);
  const tool = await create({ documents: [], topK: defaultTopK });
  try {
    const retriever = retrieverOf(tool);
    if (!retriever) {
      const message = `${name} is not a search tool of @toolenv/tools-search, which has a retriever to serve.`;
      throw new ToolEnvError('usage.not_a_retriever', message);
    }
    const { url, close } = await serveSearch(retriever, { ...options, topK: defaultTopK });
    return { url, name, close };
  } catch (error) {
    await tool.close?.();
    throw error;
  }
}
