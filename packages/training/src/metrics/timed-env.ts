/** timedEnv: an environment whose calls are timed. */
import type { Env, EnvHandle } from '@toolenv/core';
import type { BusyClock } from './busy-clock.ts';

/** What a rollout needs of an environment; `clock` runs while an episode waits for it. */
export function timedEnv<Task>(
  env: EnvHandle<Task>,
  clock: BusyClock,
): Pick<EnvHandle<Task>, 'episode' | 'ref' | 'packageVersion' | 'capabilities'> {
  const { ref, packageVersion, capabilities } = env;
  const episode = (): Env<Task> => {
    const inner = env.episode();
    return {
      spec: inner.spec,
      reset: (options) => clock.time(() => inner.reset(options)),
      step: (action, options) => clock.time(() => inner.step(action, options)),
      close: () => inner.close(),
    };
  };
  return { ref, packageVersion, capabilities, episode };
}
