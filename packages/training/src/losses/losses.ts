/** The built-in losses, by name. */
import { cispoLoss } from './cispo-loss.ts';
import { bnpoLoss, dapoLoss, drGrpoLoss, grpoLoss, luspoLoss } from './clipped-loss.ts';
import type { Loss } from './define-loss.ts';
import { sapoLoss } from './sapo-loss.ts';
import { vespoLoss } from './vespo-loss.ts';

const all = [grpoLoss, bnpoLoss, drGrpoLoss, dapoLoss, cispoLoss, sapoLoss, luspoLoss, vespoLoss];

export const losses: Readonly<Record<string, Loss>> = Object.fromEntries(
  all.map((loss) => [loss.name, loss]),
);
