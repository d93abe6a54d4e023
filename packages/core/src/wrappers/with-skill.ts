/** withSkill: an environment whose policy reads a skill (agentskills.io) in its system message, as coding agents read theirs. */
import { createHash } from 'node:crypto';
import type { EnvHandle } from '../env/env-definition.ts';
import type { Observation } from '../protocol/message.ts';
import { replacePrompts } from '../protocol/prompts.ts';
import { withChanges, wrap } from './wrap.ts';

/** Instructions for an agent, as SKILL.md has them. */
export interface Skill {
  name: string;
  /** The instructions: SKILL.md without its front matter. */
  text: string;
  /** The folder with SKILL.md and what belongs to it, for agents that read files. */
  folder?: string;
}

/** The name of the skill's text among the open texts of the environment. */
const textName = 'skill';

/**
 * The environment, in which the first conversation of each episode has the skill at the end of its system message, or as its system message if it has none. The text
 * is an open text named `skill`, so that trainers of prompts improve it. The skill becomes a part of the identity of a run.
 * @throws ToolEnvError `usage.bad_prompt` for a text that is too long.
 */
export function withSkill<Task, Handle extends EnvHandle<Task>>(env: Handle, { name, text }: Skill): Handle {
  const own = replacePrompts({ [textName]: '' }, { [textName]: text }, `The skill ${name}`);
  const wrapped = wrap(env as EnvHandle<unknown>, (inner) => {
    let shown = text;
    const add = (observation: Observation) => withText(observation, `# Skill: ${name}\n\n${shown}`);
    return withChanges(inner, {
      async reset({ prompts = {}, ...options }) {
        const { [textName]: other = text, ...others } = prompts;
        shown = other;
        return add(await inner.reset({ ...options, prompts: others }));
      },
      async step(action, options) {
        const transition = await inner.step(action, options);
        return { ...transition, observation: add(transition.observation) };
      },
    });
  });
  const sha256 = createHash('sha256').update(text).digest('hex');
  const identity = { ...env.identity, skill: { name, sha256 } };
  return { ...env, ...wrapped, prompts: { ...env.prompts, ...own }, identity };
}

function withText(observation: Observation, text: string): Observation {
  // What another player or a helper reads is not the policy's first conversation.
  if (observation.conversation !== undefined) return observation;
  const [first, ...rest] = observation.messages;
  const messages =
    first?.role === 'system'
      ? [{ ...first, content: `${first.content}\n\n${text}` }, ...rest]
      : [{ role: 'system' as const, content: text }, ...observation.messages];
  return { ...observation, messages };
}
