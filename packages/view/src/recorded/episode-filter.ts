/** Which episodes to show: each condition that is given must hold. */
import { isParseFailure } from '@toolenv/core';
import { ToolEnvError } from '@toolenv/core/errors';
import {
  endOf,
  type MistakeCode,
  mistakeCodes,
  mistakeOf,
  outcomeKinds,
  type RecordedEpisode,
} from './recorded-episode.ts';

export interface EpisodeConditions {
  /** A number or a range: `2`, `0..0.5`, `0.5..`, `>0`, `<=1`. */
  reward?: string;
  /** `terminated`, or with a reason `terminated:answered`. */
  outcome?: string;
  /** The kind of mistake in a call; `true` for any. */
  mistake?: string | true;
  /** A training step or a range of them. */
  step?: string;
  /** Name of a tool that was called. */
  tool?: string;
}

export type SummaryFilter = (episode: EpisodeSummary) => boolean;

/**
 * @param prefix What a condition's name begins with in errors, such as `--`.
 * @throws ToolEnvError `usage.bad_flag`, naming the condition and the values that it takes.
 */
export function readConditions(given: EpisodeConditions, prefix = ''): SummaryFilter {
  const conditions: SummaryFilter[] = [];
  const { reward, outcome, mistake, step, tool } = given;
  if (reward !== undefined) {
    const holds = readRange(`${prefix}reward`, reward);
    conditions.push((episode) => episode.reward !== null && holds(episode.reward));
  }
  if (outcome !== undefined) conditions.push(hasOutcome(outcome, prefix));
  if (mistake !== undefined) conditions.push(hasMistake(mistake, prefix));
  if (step !== undefined) {
    const holds = readRange(`${prefix}step`, step);
    conditions.push((episode) => episode.step !== undefined && holds(episode.step));
  }
  if (tool !== undefined) conditions.push(({ tools }) => tools.includes(tool));
  return (episode) => conditions.every((holds) => holds(episode));
}

function hasOutcome(given: string, prefix: string): SummaryFilter {
  const [kind = ''] = given.split(':');
  if (!outcomeKinds.some((known) => known === kind)) {
    const message = `${prefix}outcome ${given}: give ${outcomeKinds.join(', ')}, optionally with a reason, such as truncated:max_turns.`;
    throw new ToolEnvError('usage.bad_flag', message);
  }
  return ({ end }) => end === given || (given === kind && end.startsWith(`${kind}:`));
}

function hasMistake(given: string | true, prefix: string): SummaryFilter {
  if (given === true) return ({ mistakes }) => mistakes.length > 0;
  const code = mistakeCodes.find((known) => known === given);
  if (code === undefined) {
    const message = `${prefix}mistake ${given}: give ${mistakeCodes.join(', ')}, or no value for any mistake.`;
    throw new ToolEnvError('usage.bad_flag', message);
  }
  return ({ mistakes }) => mistakes.includes(code);
}

/** Whether the words were written or read in the episode, in any case. */
export function containsText({ steps }: Pick<RecordedEpisode, 'steps'>, words: string): boolean {
  const sought = words.toLowerCase();
  const has = (text: string) => text.toLowerCase().includes(sought);
  return steps.some(
    ({ observation, action, calls }) =>
      observation.messages.some(({ content }) => has(content)) ||
      has(action.text) ||
      calls.some(
        ({ call, text }) =>
          has(text) || has('parseFailure' in call ? call.text : JSON.stringify(call.arguments)),
      ),
  );
}

const number = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?`;
const comparison = new RegExp(`^(>=?|<=?)(${number})$`, 'i');
const range = new RegExp(`^(${number})?\\.\\.(${number})?$`, 'i');

const comparisons: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
};

/** @throws ToolEnvError `usage.bad_flag`, naming the flag. */
export function readRange(flag: string, text: string): (value: number) => boolean {
  const compact = text.replaceAll(' ', '');
  const [, sign = '', bound] = comparison.exec(compact) ?? [];
  const compare = comparisons[sign];
  if (compare) return (value) => compare(value, Number(bound));
  const [, low, high] = range.exec(compact) ?? [];
  if (low !== undefined || high !== undefined)
    return (value) => value >= Number(low ?? -Infinity) && value <= Number(high ?? Infinity);
  if (new RegExp(`^${number}$`, 'i').test(compact)) return (value) => value === Number(compact);
  const message = `${flag} ${text}: give a number or a range, such as 0.5, 0..0.5, '>0' or '<=1'.`;
  throw new ToolEnvError('usage.bad_flag', message);
}

export interface EpisodeSummary {
  episodeId: string;
  /** The training step; absent for an episode of an evaluation. */
  step?: number;
  group: number;
  sample: number;
  reward: number | null;
  rewards: Readonly<Record<string, number | null>>;
  /** As {@link endOf} says. */
  end: string;
  turns: number;
  /** That the policy sampled; 0 if none were recorded. */
  tokens: number;
  /** Names of the tools that were called, each once. */
  tools: string[];
  calls: number;
  /** What went wrong with calls, each kind once. */
  mistakes: MistakeCode[];
}

export function summaryOf(episode: RecordedEpisode): EpisodeSummary {
  const { episodeId, step, group, sample, reward, rewards, steps } = episode;
  const records = steps.flatMap(({ calls }) => calls);
  const tools = records.flatMap(({ call }) => (isParseFailure(call) ? [] : [call.name]));
  const mistakes = records.flatMap((record) => mistakeOf(record) ?? []);
  return {
    episodeId,
    ...(step !== undefined && { step }),
    group,
    sample,
    reward,
    rewards,
    end: endOf(episode),
    turns: steps.length,
    tokens: steps.reduce((sum, { action }) => sum + (action.tokens?.action.length ?? 0), 0),
    tools: [...new Set(tools)],
    calls: records.length,
    mistakes: [...new Set(mistakes)],
  };
}
