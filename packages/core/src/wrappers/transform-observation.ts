/** transformObservation: rewrites the context between steps, as Gymnasium's TransformObservation does. */
import type { Observation } from '../protocol/message.ts';
import { type Wrappable, type Wrapped, withChanges, wrap } from './wrap.ts';

/**
 * Applies `transform` to every observation, which is the environment's whole conversation. Each time that this changes what
 * the policy has already read, the trajectory gets one more training row (see `toTrainingRows`).
 */
export function transformObservation<Inner extends Wrappable>(
  env: Inner,
  transform: (
    observation: Observation,
    options: { signal?: AbortSignal },
  ) => Observation | Promise<Observation>,
): Wrapped<Inner> {
  return wrap(env, (inner) =>
    withChanges(inner, {
      reset: async (options) => transform(await inner.reset(options), { signal: options.signal }),
      async step(action, options = {}) {
        const transition = await inner.step(action, options);
        return {
          ...transition,
          observation: await transform(transition.observation, { signal: options.signal }),
        };
      },
    }),
  );
}
