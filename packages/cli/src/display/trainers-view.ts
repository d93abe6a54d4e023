/** The comparison of trainers in a terminal: a line for each, and then what differs. */
import type { TrainerShare } from '@toolenv/testing';
import { paint } from './guarded-output.ts';
import { countText, plural, scoreText } from './number-text.ts';
import { alignedRows, safeLine } from './terminal-text.ts';

export function trainersView(shares: readonly TrainerShare[]): string {
  const head = ['', 'trainer', 'episodes', 'reward', 'sampled tokens', 'learned episodes', 'learned tokens'];
  const rows = shares.map((share) => [
    share.differences.length > 0 ? '✘' : '✔',
    safeLine(share.trainer),
    countText(share.episodes),
    scoreText(share.reward),
    countText(share.sampledTokens),
    countText(share.learnedEpisodes),
    countText(share.learnedTokens),
  ]);
  const said = shares.flatMap(({ trainer, notes, differences }) => [
    ...differences.map((text) => paint('red', `  ✘ ${safeLine(`${trainer} ${text}`)}`)),
    ...notes.map((text) => paint('dim', `  – ${safeLine(`${trainer}, ${text}`)}`)),
  ]);
  const differing = shares.filter(({ differences }) => differences.length > 0).length;
  const end =
    differing === 0
      ? 'All trainers see the same episodes, rewards and tokens, and learn from tokens of the policy only.'
      : `${plural(differing, 'trainer')} of ${shares.length} differ${differing === 1 ? 's' : ''}.`;
  return [...alignedRows([head, ...rows]), ...said, end].join('\n');
}
