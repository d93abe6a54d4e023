/** Prefix sharing: tokens with which several slots begin are computed in one slot, and copied to the others. */
import { commonPrefix } from '../common-prefix.ts';

/** The tokens of a slot, of which the first `cached` have keys and values. */
export interface SlotTokens {
  readonly tokens: readonly number[];
  readonly cached: number;
}

/** The shortest prefix to share. Computing a shorter prefix twice is cheaper than waiting a run for another slot. */
const leastShared = 16;

/**
 * The longest prefix that a slot lacks and another slot has cached: a group's prompt, or a prefix of all prompts.
 * @returns The other slot, and the number of cached tokens after the copy.
 */
export function sharedPrefix(
  slots: readonly SlotTokens[],
  index: number,
): { from: number; length: number } | undefined {
  const { cached } = slots[index]!;
  let [from, most] = [-1, 0];
  for (const [other, source] of slots.entries()) {
    const gained = other === index ? 0 : gain(slots[index]!, source, source.cached);
    if (gained > most) [from, most] = [other, gained];
  }
  return from < 0 ? undefined : { from, length: cached + most };
}

/** The slots to compute first. Each other slot shares a prefix with one of them, to copy after the run. */
export function leadersOf(slots: readonly SlotTokens[], behind: readonly number[]): number[] {
  const leaders: number[] = [];
  for (const index of behind) {
    const follows = leaders.some((leader) => {
      const source = slots[leader]!;
      return gain(slots[index]!, source, source.tokens.length) > 0;
    });
    if (!follows) leaders.push(index);
  }
  return leaders;
}

/** The number of tokens that a slot gains by copying from the first `available` tokens of another slot; 0 if too few. */
function gain({ tokens, cached }: SlotTokens, source: SlotTokens, available: number): number {
  // Always compute the last token: the next token comes from its logits.
  const limit = Math.min(available, tokens.length - 1);
  const least = cached + leastShared;
  if (limit < least || tokens[least - 1] !== source.tokens[least - 1]) return 0;
  const shared = Math.min(commonPrefix(tokens, source.tokens), limit);
  return shared < least ? 0 : shared - cached;
}
