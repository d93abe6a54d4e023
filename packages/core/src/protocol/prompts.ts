/**
 * Open texts: the texts of an environment or an agent that a run may replace, such as its instructions. A trainer can improve them
 * while the policy stays as it is.
 */
import { didYouMean } from './did-you-mean.ts';
import { ToolEnvError } from './errors.ts';

/** Texts by name: `{ system: 'You work for a bank.', hints: '' }`. */
export type Prompts = Readonly<Record<string, string>>;

/** Characters of one text. */
export const maxPromptLength = 100_000;

/**
 * The texts of `own`, with those of `given` in their place.
 * @param owner Names the environment in errors.
 * @throws ToolEnvError `usage.unknown_prompt` for a name that is not in `own`, `usage.bad_prompt` for a value that is not a text of at
 *   most 100,000 characters.
 */
export function replacePrompts(own: Prompts, given: Prompts, owner: string): Prompts {
  for (const [name, text] of Object.entries(given)) {
    if (!Object.hasOwn(own, name)) {
      const names = Object.keys(own);
      const hint = names.length > 0 ? didYouMean(name, names, 'Texts') : 'It declares none.';
      throw new ToolEnvError('usage.unknown_prompt', `${owner} has no open text "${name}". ${hint}`);
    }
    const mistake = promptMistake(text);
    if (mistake) throw new ToolEnvError('usage.bad_prompt', `${owner}: the text "${name}" ${mistake}.`);
  }
  return { ...own, ...given };
}

/** What is wrong with a text, to follow its name. `undefined` if nothing is. */
export function promptMistake(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'is not a string: give a string';
  if (text.length <= maxPromptLength) return undefined;
  return `has ${text.length} characters: give at most ${maxPromptLength}`;
}
