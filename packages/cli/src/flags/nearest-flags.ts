/** nearestFlags: the flags that a misspelt or abbreviated flag may mean. */
import { nearest } from '@toolenv/core/schemas';

/**
 * @param flag `--eval-every`, which means `--evaluate-every`; `--max_tokens`, `--maxTokens`, `--lr` and `--max-new-tokens` are understood too.
 * @param known The flags of the command.
 * @returns The flags of the first way of reading it that any flag fits; none if there is no such way.
 */
export function nearestFlags(flag: string, known: readonly string[]): string[] {
  const words = wordsOf(
    flag.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  );
  const spelt = `--${words.join('-')}`;
  if (known.includes(spelt)) return [spelt];
  const abbreviated = known.filter((each) => {
    const parts = wordsOf(each);
    return parts.length === words.length && parts.every((part, at) => isShortFor(words[at]!, part));
  });
  if (abbreviated.length > 0) return abbreviated;
  const near = nearest(spelt, known);
  if (near !== undefined) return [near];
  const initials = known.filter(
    (each) =>
      wordsOf(each)
        .map(([letter]) => letter)
        .join('') === words.join(''),
  );
  if (initials.length > 0) return initials;
  // Other programs say more: --max-new-tokens, --num-train-epochs.
  const within = known.filter((each) => wordsOf(each).every((part) => words.includes(part)));
  const longest = Math.max(...within.map((each) => wordsOf(each).length));
  return within.filter((each) => wordsOf(each).length === longest);
}

function wordsOf(flag: string): string[] {
  return flag.replace(/^-+/, '').split('-');
}

/** `eval` is short for `evaluate` and for `evaluation`. */
function isShortFor(short: string, word: string): boolean {
  return word === short || (short.length > 2 && word.startsWith(short));
}
