/** The flags that choose episodes. */
import {
  containsText,
  type EpisodeConditions,
  mistakeCodes,
  outcomeKinds,
  type RecordedEpisode,
  readConditions,
  summaryOf,
} from '@toolenv/view/recorded';
import { Option } from 'commander';

/** What the flags of {@link filterFlags} give. */
export interface FilterFlags extends EpisodeConditions {
  text?: string;
  aborted?: boolean;
}

export type EpisodeFilter = (episode: RecordedEpisode) => boolean;

export function filterFlags(): Option[] {
  return [
    new Option('--reward <range>', "only episodes with a reward in this range: 0.5, 0..0.5, '>0' or '<=1'"),
    new Option(
      '--outcome <kind[:reason]>',
      `only episodes that ended this way: ${outcomeKinds.slice(1).join(', ')}, truncated:max_turns, …`,
    ),
    new Option('--aborted', 'only episodes that an infrastructure fault ended'),
    new Option('--mistake [code]', `only episodes with a failed call: ${mistakeCodes.join(', ')}`),
    new Option('--tool <name>', 'only episodes that call this tool'),
    new Option('--text <words>', 'only episodes that contain this text, in any case'),
    new Option('--step <range>', 'only episodes of these training steps: 3 or 3..5'),
  ];
}

/** @throws ToolEnvError `usage.bad_flag`, naming the flag and the values that it takes. */
export function readFilter({ text, aborted, ...conditions }: FilterFlags): EpisodeFilter {
  const holds = readConditions(conditions, '--');
  return (episode) =>
    holds(summaryOf(episode)) &&
    !(aborted && episode.outcome.kind !== 'aborted') &&
    (text === undefined || containsText(episode, text));
}
