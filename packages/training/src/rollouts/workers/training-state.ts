/** state.json of a shared folder: what a trainer wants to be played now, and with which policy. */
import { writeAtomic } from '@toolenv/core/files';
import { validate } from '@toolenv/core/schemas';
import { readJson } from '../../run-folder/read-json.ts';
import type { PolicyVersion } from './policy-versions.ts';
import type { RolloutPlan } from './rollout-plan.ts';
import type { SharedFolder } from './shared-folder.ts';

export interface TrainingState {
  /** Updates of the newest policy. */
  policyVersion: number;
  /** The name of its folder in `policy/`, unlike that of any other policy of the run. */
  policy: string;
  /** The updates from which the trainer went on, each time that it resumed. */
  restarts: readonly number[];
  /** The groups to play: [number, index of the task]. */
  open: readonly (readonly [group: number, task: number])[];
  finished: boolean;
}

const index = { type: 'integer', minimum: 0 } as const;
const schema = {
  type: 'object',
  required: ['policyVersion', 'policy', 'restarts', 'open', 'finished'],
  properties: {
    policyVersion: index,
    // The name of a folder, and not a path out of it.
    policy: { type: 'string', pattern: '^version-\\d+(-r\\d+)?$' },
    restarts: { type: 'array', items: index },
    open: { type: 'array', items: { type: 'array', items: index, minItems: 2, maxItems: 2 } },
    finished: { type: 'boolean' },
  },
};

/** `undefined` if no trainer has begun. */
export function readState(file: string): Promise<TrainingState | undefined> {
  return readJson(file, {
    check(state) {
      const [wrong] = validate(schema, state);
      if (wrong) throw new Error(`${wrong.path}: expected ${wrong.expected}; received ${wrong.received}`);
      return state as TrainingState;
    },
    code: 'usage.other_plan',
    remedy: 'start a run in another folder',
  });
}

export function writeState(file: string, state: TrainingState): Promise<void> {
  return writeAtomic(file, `${JSON.stringify(state)}\n`);
}

/** `version-12`; `version-12-r1` after the trainer has resumed once, since its steps need not repeat to the bit. */
export function versionName(policyVersion: number, restarts: readonly number[]): string {
  const restart = restarts.length === 0 ? '' : `-r${restarts.length}`;
  return `version-${policyVersion}${restart}`;
}

/**
 * Whether the weights of a policy are an ancestor of the present ones: a trainer that resumed at step 10 discarded the policies that
 * had more updates.
 */
export function isOfThisRun(
  { policyVersion = 0, restart = 0 }: { policyVersion?: number; restart?: number },
  restarts: readonly number[],
): boolean {
  return restarts.slice(restart).every((from) => policyVersion <= from);
}

export type WantedGroup = readonly [group: number, task: number];

export interface Wanted {
  groups: readonly WantedGroup[];
  /** Absent without a trainer. */
  version?: PolicyVersion;
  /** Changes when there is something new to play. */
  key: string;
  /** The trainer wants no more. */
  finished: boolean;
}

/**
 * @param length Tasks of the split.
 * @returns Reads what is wanted; `undefined` while no trainer has begun.
 */
export function wantedGroups(
  folder: Pick<SharedFolder, 'state'>,
  { count }: Pick<RolloutPlan, 'count'>,
  length: number,
): () => Promise<Wanted | undefined> {
  if (count !== undefined) {
    const groups = Array.from({ length: Math.min(count, length) }, (_, group) => [group, group] as const);
    const wanted: Wanted = { groups, key: 'plan', finished: false };
    return async () => wanted;
  }
  return async () => {
    const state = await readState(folder.state);
    if (!state) return undefined;
    const { policy: name, policyVersion, restarts, open, finished } = state;
    const key = `${name} ${open.at(-1)?.[0]}`;
    return { groups: open, version: { name, policyVersion, restart: restarts.length }, key, finished };
  };
}

/** The share of a worker: the third of eight is { index: 2, count: 8 }. */
export interface WorkerShare {
  index: number;
  count: number;
}

/**
 * The groups in the order in which a worker looks at them: its own share first, so that workers do not meet; then the shares of
 * others, from the next worker on, to help workers that are slow and to play what dead workers have left.
 */
export function inOrderOf<Group extends WantedGroup>(
  groups: readonly Group[],
  { index, count }: WorkerShare,
): Group[] {
  const distance = ([group]: Group) => (((group - index) % count) + count) % count;
  return [...groups].sort((a, b) => distance(a) - distance(b) || a[0] - b[0]);
}
