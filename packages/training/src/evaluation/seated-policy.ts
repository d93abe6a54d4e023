/** seatedPolicy: several policies as one, each of which takes the turns of its seats. */
import type { Policy } from '@toolenv/core';

/**
 * @param first Plays the first player, and every conversation that belongs to no player.
 * @param others The policies of the other players, by the player's name.
 */
export function seatedPolicy(first: Policy, others: Readonly<Record<string, Policy>>): Policy {
  const all = [...new Set([first, ...Object.values(others)])];
  return {
    spec: {
      name: [first, ...Object.values(others)].map(({ spec }) => spec.name).join(', '),
      contextLength: Math.min(...all.map(({ spec }) => spec.contextLength)),
      capabilities: { images: all.every(({ spec }) => spec.capabilities?.images === true) },
    },
    act(observation, options) {
      const { conversation = '' } = observation;
      const policy = Object.hasOwn(others, conversation) ? others[conversation]! : first;
      return policy.act(observation, options);
    },
    async endEpisode(episodeId) {
      await Promise.all(all.map((policy) => policy.endEpisode?.(episodeId)));
    },
  };
}
