/** The kinds of files that are damaged, by name. */
import { checkpoints } from './checkpoints.ts';
import { manifests } from './manifests.ts';
import { trajectories } from './trajectories.ts';

export const subjects = { checkpoints, trajectories, manifests };
