/** commonPrefix: how far the episodes of a group are the same. */
import type { RecordedEpisode } from '@toolenv/view/recorded';

type Step = RecordedEpisode['steps'][number];

export interface CommonPrefix {
  /** Whether all begin with the same messages. */
  opening: boolean;
  /** Turns that are the same in all, with the results of their calls. No episode ends within them. */
  turns: number;
}

export function commonPrefix(episodes: readonly Pick<RecordedEpisode, 'steps'>[]): CommonPrefix {
  const [first, ...others] = episodes;
  const nothing = { opening: false, turns: 0 };
  if (!first || others.length === 0) return nothing;
  const isSame = (part: (steps: readonly Step[]) => unknown) => {
    const wanted = JSON.stringify(part(first.steps));
    return wanted !== undefined && others.every(({ steps }) => JSON.stringify(part(steps)) === wanted);
  };
  if (!isSame((steps) => steps[0]?.observation.messages)) return nothing;
  const shortest = Math.min(...episodes.map(({ steps }) => steps.length));
  let turns = 0;
  // Each episode keeps a turn of its own.
  while (turns < shortest - 1 && isSame((steps) => seen(steps[turns], steps[turns + 1]))) turns += 1;
  return { opening: true, turns };
}

/** What a turn did, and what the policy saw after it. */
function seen(step: Step | undefined, next: Step | undefined): unknown {
  const { text, toolCalls } = step?.action ?? {};
  const calls = toolCalls?.map((call) => ('parseFailure' in call ? call.text : [call.name, call.arguments]));
  return [text, calls, step?.calls.map((call) => call.text), next?.observation.messages.length];
}
