/** baselinePolicy: a policy as the baselines of retrieval papers play it: without a search, or with one search before it answers. */
import { type Message, type Observation, type Policy, ToolEnvError } from '@toolenv/core';

/**
 * - `direct`: the model answers at once, without tools.
 * - `naive-rag`: one search for the question itself, then the model answers from what was found.
 * - `base-tool-call`: the model calls tools as it likes, as in training.
 */
export type BaselineKind = 'direct' | 'naive-rag' | 'base-tool-call';
export const baselineKinds: readonly BaselineKind[] = ['direct', 'naive-rag', 'base-tool-call'];

/** Where naive RAG puts what was found: before the question, after it, or as the result of a search that the model made. */
export type Placement = 'before' | 'after' | 'result';
export const placements: readonly Placement[] = ['before', 'after', 'result'];

export interface BaselineOptions {
  /** Default: `before`. */
  placement?: Placement;
  /** Replaces the system message of the environment, whose words may be about tools that a baseline does not have. */
  instruction?: string;
}

/** @returns A policy that closes nothing: close the policy that it plays. */
export function baselinePolicy(
  kind: BaselineKind,
  policy: Policy,
  { placement = 'before', instruction }: BaselineOptions = {},
): Policy {
  const prepare = (observation: Observation) => instructed(observation, instruction);
  const answer: Policy['act'] = async (observation, options) => {
    const action = await policy.act(observation, options);
    // The model must answer now. A call that it writes all the same is a wrong answer.
    const { stopReason } = action;
    return { ...action, toolCalls: [], stopReason: stopReason === 'tool_call' ? 'stop' : stopReason };
  };
  const searched = new Set<string>();
  const acts: Record<BaselineKind, Policy['act']> = {
    direct: (observation, options) => answer({ ...prepare(observation), tools: [] }, options),
    async 'naive-rag'(observation, options) {
      const { episodeId = '' } = options;
      if (searched.has(episodeId)) return answer(placed(prepare(observation), placement), options);
      searched.add(episodeId);
      const query = questionOf(observation);
      const call = { id: 'retrieval', name: searchTool(observation), arguments: { query } };
      return { text: '', toolCalls: [call], stopReason: 'tool_call' };
    },
    'base-tool-call': (observation, options) => policy.act(prepare(observation), options),
  };
  return {
    spec: { ...policy.spec, name: `${policy.spec.name}, ${kind}` },
    act: acts[kind],
    endEpisode(episodeId) {
      searched.delete(episodeId);
      return policy.endEpisode?.(episodeId);
    },
  };
}

function instructed({ messages, tools }: Observation, instruction: string | undefined): Observation {
  if (instruction === undefined) return { messages, tools };
  const rest = messages.filter(({ role }) => role !== 'system');
  return { messages: [{ role: 'system', content: instruction }, ...rest], tools };
}

/** What was found, as a part of the question. */
function placed({ messages, tools }: Observation, placement: Placement): Observation {
  if (placement === 'result') return { messages, tools };
  const found = messages.at(-1)!.content;
  const asked: Message[] = messages.filter(({ role }) => role === 'system' || role === 'user');
  const question = asked.at(-1)!;
  const parts = placement === 'before' ? [found, question.content] : [question.content, found];
  return { messages: [...asked.slice(0, -1), { ...question, content: parts.join('\n') }], tools: [] };
}

function questionOf({ messages }: Observation): string {
  return messages.find(({ role }) => role === 'user')?.content ?? '';
}

/** The first tool that takes a `query`. */
function searchTool({ tools }: Observation): string {
  const found = tools.find(({ inputSchema }) =>
    Object.hasOwn((inputSchema.properties ?? {}) as object, 'query'),
  );
  if (found) return found.name;
  const names = tools.map(({ name }) => name).join(', ') || 'none';
  const message = `naive-rag needs a tool with a query, but the tools of the environment are ${names}: choose another kind.`;
  throw new ToolEnvError('usage.baseline', message);
}
