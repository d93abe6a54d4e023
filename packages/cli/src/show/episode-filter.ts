/** Which episodes to show: each flag is a condition, and all must hold. */
import { isParseFailure, ToolEnvError } from '@toolenv/core';
import { Option } from 'commander';
import { readRange } from './number-range.ts';
import { endOf, mistakeCodes, mistakeOf, type RecordedEpisode } from './recorded-episode.ts';

/** What the flags of {@link filterFlags} give. */
export interface FilterFlags {
  reward?: string;
  outcome?: string;
  mistake?: string | true;
  step?: string;
  tool?: string;
  text?: string;
  aborted?: boolean;
}

export type EpisodeFilter = (episode: RecordedEpisode) => boolean;

const outcomeKinds = ['running', 'terminated', 'truncated', 'aborted'];

export function filterFlags(): Option[] {
  return [
    new Option('--reward <range>', "only episodes with such a reward: 0.5, 0..0.5, '>0' or '<=1'"),
    new Option(
      '--outcome <kind[:reason]>',
      `only episodes that ended so: ${outcomeKinds.slice(1).join(', ')}, truncated:max_turns, …`,
    ),
    new Option('--aborted', 'only episodes that a fault of the infrastructure ended'),
    new Option('--mistake [code]', `only episodes with a call that failed: ${mistakeCodes.join(', ')}`),
    new Option('--tool <name>', 'only episodes that call this tool'),
    new Option('--text <words>', 'only episodes in which this text was written or read, in any case'),
    new Option('--step <range>', 'only episodes of these training steps: 3, 3..5'),
  ];
}

/** @throws ToolEnvError `usage.bad_flag`, naming the flag and the values that it takes. */
export function readFilter(flags: FilterFlags): EpisodeFilter {
  const conditions: EpisodeFilter[] = [];
  const { reward, outcome, mistake, step, tool, text, aborted } = flags;
  if (reward !== undefined) {
    const holds = readRange('--reward', reward);
    conditions.push((episode) => episode.reward !== null && holds(episode.reward));
  }
  if (outcome !== undefined) conditions.push(hasOutcome(outcome));
  if (aborted) conditions.push((episode) => episode.outcome.kind === 'aborted');
  if (mistake !== undefined) conditions.push(hasMistake(mistake));
  if (step !== undefined) {
    const holds = readRange('--step', step);
    conditions.push((episode) => episode.step !== undefined && holds(episode.step));
  }
  if (tool !== undefined) {
    conditions.push(({ steps }) =>
      steps.some(({ calls }) => calls.some(({ call }) => !isParseFailure(call) && call.name === tool)),
    );
  }
  if (text !== undefined) conditions.push(hasText(text));
  return (episode) => conditions.every((holds) => holds(episode));
}

function hasOutcome(given: string): EpisodeFilter {
  const [kind = ''] = given.split(':');
  if (!outcomeKinds.includes(kind)) {
    const message = `--outcome ${given}: give ${outcomeKinds.join(', ')}, with a reason if you like, as truncated:max_turns.`;
    throw new ToolEnvError('usage.bad_flag', message);
  }
  return (episode) => {
    const end = endOf(episode);
    return end === given || (given === kind && end.startsWith(`${kind}:`));
  };
}

function hasMistake(given: string | true): EpisodeFilter {
  const known: readonly string[] = mistakeCodes;
  if (given !== true && !known.includes(given)) {
    const message = `--mistake ${given}: give ${known.join(', ')}, or nothing for any. Name the run before the flag.`;
    throw new ToolEnvError('usage.bad_flag', message);
  }
  return ({ steps }) =>
    steps.some(({ calls }) =>
      calls.some((record) => {
        const code = mistakeOf(record);
        return code !== undefined && (given === true || code === given);
      }),
    );
}

function hasText(words: string): EpisodeFilter {
  const sought = words.toLowerCase();
  const has = (text: string) => text.toLowerCase().includes(sought);
  return ({ steps }) =>
    steps.some(
      ({ observation, action, calls }) =>
        observation.messages.some(({ content }) => has(content)) ||
        has(action.text) ||
        calls.some(
          ({ call, text }) =>
            has(text) || has(isParseFailure(call) ? call.text : JSON.stringify(call.arguments)),
        ),
    );
}
