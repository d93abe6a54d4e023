/**
 * Prefix sharing: tokens with which several conversations begin are computed once. Keys and values of a position depend, in their last
 * bits, on where the run began that computed it. So conversations share only what each of them would compute in the same runs, and a
 * sample does not depend on which other conversations there are.
 */
import { commonPrefix } from '../common-prefix.ts';
import { longestRun as chunkLength } from '../model/cached-states.ts';

// Prefixes are shared in multiples of the most tokens of a conversation in one run.

/** The tokens of a slot, of which the first `cached` have keys and values. */
export interface SlotTokens {
  readonly tokens: readonly number[];
  readonly cached: number;
  /** The first positions that any prompt with these tokens would compute in the same runs. */
  readonly shareable: number;
}

/** The tokens of a slot that the next run computes: those from `cached` up to this one. */
export function nextEnd({ tokens, cached }: SlotTokens): number {
  return Math.min(tokens.length, cached + chunkLength);
}

/** Whether any prompt that begins with the slot's tokens has a run that begins where the slot's next run begins. */
export function isAligned({ cached, shareable }: SlotTokens): boolean {
  return cached === shareable && cached % chunkLength === 0;
}

/**
 * The longest prefix that a slot lacks and another slot has cached: the prompt of a group, or a prefix of all prompts.
 * @param whole Whether only all that the other slot has cached can be copied, as states can.
 * @returns The other slot, and the number of cached tokens after the copy.
 */
export function sharedPrefix(
  slots: readonly SlotTokens[],
  index: number,
  whole = false,
): { from: number; length: number } | undefined {
  const slot = slots[index]!;
  if (!isAligned(slot)) return undefined;
  // Always compute the last token: the next token comes from its logits.
  const most = slot.tokens.length - 1;
  let best = { from: -1, length: slot.cached };
  for (const [from, source] of slots.entries()) {
    const available = Math.min(source.shareable, most);
    const last = available - (available % chunkLength) - 1;
    if (from === index || last < best.length) continue;
    const equal = Math.min(commonPrefix(slot.tokens, source.tokens), last + 1);
    const length = equal - (equal % chunkLength);
    if (whole && length !== source.cached) continue;
    if (length > best.length) best = { from, length };
  }
  return best.from < 0 ? undefined : best;
}

/** A slot to compute, and the slots whose next run would compute the same. */
export interface Leader {
  slot: number;
  copies: number[];
}

export function leadersOf(slots: readonly SlotTokens[], behind: readonly number[]): Leader[] {
  const leaders: Leader[] = [];
  for (const index of behind) {
    const leader = leaders.find(({ slot }) => computesTheSame(slots[index]!, slots[slot]!));
    if (leader) leader.copies.push(index);
    else leaders.push({ slot: index, copies: [] });
  }
  return leaders;
}

function computesTheSame(a: SlotTokens, b: SlotTokens): boolean {
  const end = nextEnd(a);
  if (!isAligned(a) || !isAligned(b) || a.cached !== b.cached || end !== nextEnd(b)) return false;
  // Both draw a token after it, or neither does.
  if ((end === a.tokens.length) !== (end === b.tokens.length)) return false;
  return a.tokens[end - 1] === b.tokens[end - 1] && commonPrefix(a.tokens, b.tokens) >= end;
}
