/** mintId: ids that clients see. They live on the wire only, and trajectories keep the model's own. */
import { randomBytes } from 'node:crypto';

/** An id that nothing else in the episode has. It ends in 24 hexadecimal digits: Mistral's templates keep the last nine. */
export function mintId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}
