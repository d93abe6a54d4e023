/** Asynchronous rollouts: rollouts of later steps run while a trainer learns from an earlier rollout. */

/** A rollout, and the age of the weights that began it. */
export interface RolloutsAhead<Rollout> {
  rollout: Rollout;
  /** Updates between the beginning of the rollout and its delivery. */
  staleness: number;
}

/**
 * Yields the rollouts of the steps from `from` up to, not including, `to`, in order. Requesting the next rollout means that
 * earlier rollouts have been trained on.
 *
 * With `ahead` 0 a rollout begins when it is requested. Otherwise that many further rollouts are in flight, so that slow tools do
 * not delay learning; a rollout is delivered at most `ahead` updates after it began (bounded staleness, as in AReaL, arXiv
 * 2505.24298). Weights may change in the middle of an episode: each token keeps the log-probability it was sampled with.
 * @param play Begins the rollout of a step. Its signal aborts when the rollout is no longer needed.
 */
export async function* rolloutsAhead<Rollout>(
  { from, to, ahead, signal }: { from: number; to: number; ahead: number; signal?: AbortSignal },
  play: (step: number, signal: AbortSignal) => Promise<Rollout>,
): AsyncGenerator<RolloutsAhead<Rollout>, void, void> {
  const leave = new AbortController();
  const stop = signal ? AbortSignal.any([signal, leave.signal]) : leave.signal;
  const inFlight: { begun: number; rollout: Promise<Rollout> }[] = [];
  let next = from;
  try {
    for (let step = from; step < to; step++) {
      for (; next < to && next <= step + ahead; next++) {
        const rollout = play(next, stop);
        // It may reject before it is awaited below, which must not count as unhandled.
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
