/** episodeLengths: how many tokens the episodes of each environment take, as lines of a table. */
import { loadPolicy } from '@toolenv/policy';
import type { Episodes } from './sample-episodes.ts';

/** @param policy Folder of the policy whose tokenizer counts. */
export async function episodeLengths(policy: string, episodes: Episodes): Promise<string[]> {
  await using loaded = await loadPolicy(policy);
  const lines = [...episodes].map(([name, own]) => {
    const rows = own.flatMap((episode) => loaded.encode(episode));
    const lengths = rows.map(({ tokens }) => tokens.length);
    const learned = rows.map(({ mask }) => mask.reduce((sum, bit) => sum + bit, 0));
    const cells = [name, mean(lengths), Math.max(...lengths), mean(learned)];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| episodes of | tokens | most | learned |', '| --- | --- | --- | --- |', ...lines];
}

function mean(values: readonly number[]): number {
  return Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
}
