/** How far a learner's or a policy's numbers may be off before a check reports them. */

/** Outputs for the same tokens in another batch, in nats: float32 sums depend on their order. */
export const outputTolerance = 1e-3;
/** Log-probabilities above 0 and entropies below 0: the log-probability of a certain token may round to slightly above 0. */
export const signTolerance = 1e-5;
/** Gradient norms, relative. */
export const normTolerance = 1e-2;
