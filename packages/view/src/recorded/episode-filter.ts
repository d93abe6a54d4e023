/** Which episodes to show: each condition that is given must hold. */
import { ToolEnvError } from '@toolenv/core/errors';
import type { EpisodeSummary } from './episode-summary.ts';
import { readRange } from './number-range.ts';
import { mistakeCodes, outcomeKinds, type RecordedEpisode } from './recorded-episode.ts';

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
