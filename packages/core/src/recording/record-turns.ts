/** recordTurns: a policy whose turns are written down. */
import { boundAction } from '../boundary/bound-call.ts';
import { checkAction } from '../boundary/check-action.ts';
import type { Action } from '../protocol/action.ts';
import { plainAction } from './plain-action.ts';
import type { RecordablePolicy } from './run-tap.ts';
import { recordedError } from './tool-recording.ts';
import { type RecordedTurn, requestOf, Turns } from './turn-recording.ts';

/** @param write Settles when the turn is in the file. A turn returns no earlier. */
export function recordTurns(
  policy: RecordablePolicy,
  write: (turn: RecordedTurn) => Promise<void>,
): RecordablePolicy {
  const turns = new Turns();
  return {
    spec: policy.spec,
    async act(observation, options) {
      const key = turns.next(options);
      // Copied before the policy can change it.
      const asked = { ...key, request: requestOf(observation, options) };
      let action: Action;
      try {
        action = await policy.act(observation, options);
      } catch (thrown) {
        await write({ ...asked, ...recordedError(thrown, options.signal?.aborted) });
        throw thrown;
      }
      // The loop refuses a malformed action, and takes calls within bounds.
      if (!checkAction(action)) await write({ ...asked, action: plainAction(boundAction(action)) });
      return action;
    },
    endEpisode(episodeId) {
      turns.end(episodeId);
      return policy.endEpisode?.(episodeId);
    },
    get usage() {
      return policy.usage!;
    },
    close: async () => policy.close?.(),
  };
}
