/** The built-in losses, by name. */
import { cispoLoss } from './cispo-loss.ts';
import { clipped } from './clipped-loss.ts';
import type { Loss } from './define-loss.ts';
import { sapoLoss } from './sapo-loss.ts';
import { vespoLoss } from './vespo-loss.ts';

const all = [
  // arXiv 2402.03300; with `ratioLevel: 'sequence'` GSPO (arXiv 2507.18071).
  clipped('grpo', 'episode-mean', 'clipped ratio, mean over episodes of their means'),
  clipped('bnpo', 'batch-mean', 'clipped ratio, mean over the tokens of a batch'),
  // Dr. GRPO (arXiv 2503.20783).
  clipped('dr_grpo', 'constant', 'clipped ratio, sum over a constant length'),
  // DAPO (arXiv 2503.14476).
  clipped('dapo', 'step-mean', 'clipped ratio, mean over the tokens of a step'),
  cispoLoss,
  sapoLoss,
  // LUSPO (arXiv 2602.05261): the ratio of the sequence, and each sequence weighs as much as it has tokens.
  clipped(
    'luspo',
    'episode-sum',
    'clipped ratio of the sequence, mean over episodes of their sums',
    'sequence',
  ),
  vespoLoss,
];

export const losses: Readonly<Record<string, Loss>> = Object.fromEntries(
  all.map((loss) => [loss.name, loss]),
);
