/** firstDifference: where two episodes of a task part. */
import type { RecordedEpisode } from '@toolenv/view/recorded';

/** A sampled token. */
export interface TokenPlace {
  turn: number;
  token: number;
}

/**
 * The first sampled token that differs. An episode that ends while the other goes on differs in the other's next token.
 * @returns `undefined` if all tokens are the same, or were not recorded.
 */
export function firstDifference(
  first: Pick<RecordedEpisode, 'steps'>,
  second: Pick<RecordedEpisode, 'steps'>,
): TokenPlace | undefined {
  const turns = Math.max(first.steps.length, second.steps.length);
  for (let turn = 0; turn < turns; turn++) {
    const [one, other] = [first, second].map(({ steps }) => sampledIn(steps[turn]));
    if (!one && !other) continue;
    const [left, right] = [one ?? [], other ?? []];
    const length = Math.max(left.length, right.length);
    for (let token = 0; token < length; token++) if (left[token] !== right[token]) return { turn, token };
  }
  return undefined;
}

/** In JSON, the tokens of a turn are a list. */
function sampledIn(step: RecordedEpisode['steps'][number] | undefined): number[] | undefined {
  const tokens = step?.action.tokens?.action;
  return tokens && Array.from(tokens);
}
