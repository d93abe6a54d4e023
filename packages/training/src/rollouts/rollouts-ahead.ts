/** rolloutsAhead: rollouts of later steps go on while a trainer learns from an earlier one. */

/** A rollout, and how old the weights are that began it. */
export interface Ahead<Rollout> {
  rollout: Rollout;
  /** Optimizer updates done since it began, when it is handed over. */
  staleness: number;
}

/**
 * Yields the rollouts of the steps from `from` up to `to`, in order. Whoever takes the next one has learned from all before it.
 *
 * With `ahead` 0 a rollout begins when it is asked for. With more, that many further ones are in flight, so that slow tools
 * keep nobody waiting; a rollout is then handed over at most `ahead` updates after it began (bounded staleness, as in AReaL, arXiv
 * 2505.24298). Weights may change in the middle of an episode: each token keeps the log-probability it was sampled with.
 * @param play Begins the rollout of a step; its signal aborts when nobody will take it.
 */
export async function* rolloutsAhead<Rollout>(
  { from, to, ahead, signal }: { from: number; to: number; ahead: number; signal?: AbortSignal },
  play: (step: number, signal: AbortSignal) => Promise<Rollout>,
): AsyncGenerator<Ahead<Rollout>, void, void> {
  const leave = new AbortController();
  const stop = signal ? AbortSignal.any([signal, leave.signal]) : leave.signal;
  const inFlight: { begun: number; rollout: Promise<Rollout> }[] = [];
  let next = from;
  try {
    for (let step = from; step < to; step++) {
      for (; next < to && next <= step + ahead; next++) {
        const rollout = play(next, stop);
        // Awaited below, but maybe not before it rejects, which must not count as unhandled.
        rollout.catch(() => {});
        inFlight.push({ begun: step, rollout });
      }
      const { begun, rollout } = inFlight[0]!;
      yield { rollout: await rollout, staleness: step - begun };
      inFlight.shift();
    }
  } finally {
    leave.abort();
    await Promise.allSettled(inFlight.map(({ rollout }) => rollout));
  }
}
