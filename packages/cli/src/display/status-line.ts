/** The numbers next to a progress bar. */
import { scoreLabel } from '@toolenv/training';
import { countText } from './number-text.ts';

export interface Status {
  reward?: number;
  /** Name and mean of the score that says which episodes were right. */
  headline?: [name: string, mean: number];
  /** Tool calls per episode. */
  calls?: number;
  tokensPerSecond?: number;
}

/** `reward 0.41  EM 0.38  2.1 calls/episode  1,234 tokens/s`, without the parts that are unknown. */
export function statusLine({ reward, headline, calls, tokensPerSecond }: Status): string {
  const parts: string[] = [];
  if (reward !== undefined) parts.push(`reward ${reward.toFixed(2)}`);
  if (headline) parts.push(`${scoreLabel(headline[0])} ${headline[1].toFixed(2)}`);
  if (calls !== undefined) parts.push(`${calls.toFixed(1)} calls/episode`);
  if (tokensPerSecond !== undefined) parts.push(`${countText(tokensPerSecond)} tokens/s`);
  return parts.join('  ');
}
