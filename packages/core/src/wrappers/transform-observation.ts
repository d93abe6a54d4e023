/** transformObservation: rewrites the context between steps. Gymnasium's TransformObservation. */
import type { Observation } from '../protocol/message.ts';
import { type Wrappable, type Wrapped, withChanges, wrap } from './wrap.ts';

/**
 * The environment with `transform` applied to every observation, each of which is the whole conversation as the
 * environment has it. Where this changes what the policy has read before, a trajectory has a training row more
 * (see `toTrainingRows`).
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
