/** wrap: the basis of all wrappers. Replaces methods of one Env, or of every Env of an EnvHandle. */
import { guardEnv } from '../boundary/guarded-env.ts';
import type { EnvHandle } from '../env/env-definition.ts';
import type { Env } from '../protocol/env.ts';

/** What a wrapper takes: one Env, or an open environment, whose Envs it then wraps. */
export type Wrappable = Env | EnvHandle<unknown>;

/** What a wrapper returns: the same interface as it was given. */
export type Wrapped<Inner extends Wrappable> =
  Inner extends EnvHandle<infer Task> ? EnvHandle<Task> : Inner extends Env<infer Task> ? Env<Task> : never;

export function wrap<Inner extends Wrappable>(env: Inner, wrapEpisode: (env: Env) => Env): Wrapped<Inner> {
  const wrapped: Wrappable =
    'episode' in env
      ? {
          ...env,
          tasks: env.tasks,
          draw: env.draw,
          // What the wrapper itself answers is checked too.
          episode: () => guardEnv(wrapEpisode(env.episode()), env.capabilities?.remote),
          close: () => env.close(),
          ref: env.ref,
          packageVersion: env.packageVersion,
          capabilities: env.capabilities,
        }
      : wrapEpisode(env);
  return wrapped as Wrapped<Inner>;
}

/** `env` with the methods in `changes` in place of its own. */
export function withChanges(env: Env, changes: Partial<Env>): Env {
  return {
    spec: env.spec,
    reset: (options) => env.reset(options),
    step: (action, options) => env.step(action, options),
    close: () => env.close(),
    tools: () => env.tools?.() ?? [],
    ...changes,
  };
}
