/** openScorer: scores recorded conversations by a function of the user, or by a judge. */
import { createRng, type Tool, ToolEnvError } from '@toolenv/core';
import { loadPlugin } from '@toolenv/core/plugins';
import type { ConversationScore } from '@toolenv/dataset';
import { importFunction } from '../subject/import-function.ts';
import { pluginFolders } from '../subject/plugin-folders.ts';

/** Characters that the judge reads of a conversation: the middle of a longer conversation is left out. */
const maxTextLength = 40_000;

/** The flags that say how conversations are scored. */
interface Scoring {
  score?: string;
  judge?: string;
  judgePrompt: string;
  judgeCalls?: number;
  judgeCache?: string;
  judgeConcurrency: number;
}

/** @throws ToolEnvError `usage.arguments` for both flags, and what opening the judge throws. `undefined` without either flag. */
export async function openScorer({
  score,
  judge: model,
  judgePrompt,
  judgeCalls: calls,
  judgeCache: cache,
  judgeConcurrency: concurrency,
}: Scoring): Promise<{ score: ConversationScore; close(): Promise<void> } | undefined> {
  if (score !== undefined && model !== undefined)
    throw new ToolEnvError('usage.arguments', '--score and --judge both score: give one of them.');
  if (score !== undefined)
    return { score: await importFunction<ConversationScore>(score, '--score'), close: async () => {} };
  if (model === undefined) return undefined;
  const plugin = await loadPlugin('tools', '@toolenv/judge/judge-v1', { from: pluginFolders() });
  const tool = await plugin.create({ model, calls, cache, concurrency });
  let call = 0;
  return {
    score: ({ text }, { signal }) => verdictOn(tool, { judgePrompt, text, callIndex: call++, signal }),
    close: async () => tool.close?.(),
  };
}

/** `null` if the judge gives no verdict, asked twice. */
async function verdictOn(
  tool: Tool,
  {
    judgePrompt: instructions,
    text,
    callIndex,
    signal,
  }: { judgePrompt: string; text: string; callIndex: number; signal: AbortSignal },
): Promise<number | null> {
  const half = maxTextLength / 2;
  const judged = text.length <= maxTextLength ? text : `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`;
  const context = { signal, rng: createRng(1, 'tasks', callIndex), episodeId: 'tasks', callIndex };
  try {
    const result = await tool.execute({ instructions, judged, scale: [0, 10] }, context);
    return (Object(result.structuredContent) as { score: number }).score;
  } catch (error) {
    if (ToolEnvError.isInstance(error) && error.code === 'infrastructure.judge_verdict') return null;
    throw error;
  }
}
