/** withPrompts: an environment with other texts in place of its open texts. */
import type { EnvHandle } from '../env/env-definition.ts';
import { type Prompts, replacePrompts } from '../protocol/prompts.ts';
import { withChanges, wrap } from './wrap.ts';

/**
 * The environment, whose episodes have the given texts. What `prompts` leaves out stays. The texts become a part of the identity of a run.
 * @throws ToolEnvError as `replacePrompts` does.
 */
export function withPrompts<Task, Handle extends EnvHandle<Task>>(env: Handle, prompts: Prompts): Handle {
  const owner = env.ref ?? env.episode().spec.name;
  const texts = replacePrompts(env.prompts ?? {}, prompts, owner);
  const wrapped = wrap(env as EnvHandle<unknown>, (inner) =>
    withChanges(inner, {
      reset: (options) => inner.reset({ ...options, prompts: { ...prompts, ...options.prompts } }),
    }),
  );
  const replaced = { ...(env.identity?.prompts as Prompts | undefined), ...prompts };
  return { ...env, ...wrapped, prompts: texts, identity: { ...env.identity, prompts: replaced } };
}
