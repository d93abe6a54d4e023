/**
 * WorkerRollouts: the rollouts of a trainer whose episodes other processes play.
 *
 * Before each step the trainer publishes its policy and the groups that it wants, at most `maxStaleness` steps of them beyond this
 * one. It takes finished groups as they come, oldest policy first, and replaces those that are older than `maxStaleness` updates.
 */
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { aborted, type EnvHandle, type TaskResult, ToolEnvError, type Trajectory } from '@toolenv/core';
import {
  type FolderLock,
  lockFolder,
  refuseLostFolder,
  removePartials,
  withDiskErrors,
  writeFolder,
} from '@toolenv/core/files';
import type { Metrics, Run } from '@toolenv/core/plugins';
import { mean } from '../../rows/averages.ts';
import type { Algorithm } from '../../trainer/algorithm.ts';
import type { RunOptions } from '../../trainer/run-options.ts';
import { AbortWatch } from '../abort-watch.ts';
import { draw } from '../draw-episodes.ts';
import type { GroupScorer } from '../group-scorer.ts';
import type { PlayedStep } from '../play-step.ts';
import { learnable, resampled } from '../play-step.ts';
import { rolloutMetrics } from '../rollout-metrics.ts';
import { shuffleRewards } from '../shuffle-rewards.ts';
import { GroupFiles, type StampedTrajectory } from './group-files.ts';
import { OpenGroups } from './open-groups.ts';
import { agreeOnPlan, planOfEnv } from './rollout-plan.ts';
import { openSharedFolder, removeGroups, type SharedFolder } from './shared-folder.ts';
import { isOfThisRun, readState, versionName, writeState } from './training-state.ts';

/** Milliseconds between two looks at the folder: the first wait, which doubles up to the longest. */
const poll = { first: 10, longest: 200 };

/** A finished group. */
interface ReadyGroup {
  group: number;
  /** Updates of the policy that began it. */
  policyVersion: number;
  episodes: StampedTrajectory[];
}

type WorkerRun = Run & { env: EnvHandle<unknown>; rollouts: string };

export class WorkerRollouts {
  readonly groups: OpenGroups = new OpenGroups();
  readonly #run: WorkerRun;
  readonly #options: RunOptions;
  readonly #results: () => ReadonlyMap<number, TaskResult>;
  readonly #watch: AbortWatch;
  #folder!: SharedFolder;
  #files!: GroupFiles;
  #lock: FolderLock | undefined;
  #restarts: readonly number[] = [];
  /** Finished groups that no step has taken yet. */
  readonly #ready: Map<number, ReadyGroup> = new Map();
  /** The folders of the policies that workers may open, oldest first. */
  #policies: string[] = [];
  /** Episodes that were too old since the last step. */
  #stale = 0;
  /** Groups since the last step whose files broke a rule. */
  #damaged = 0;

  /** @param results What the environment may choose tasks by. */
  constructor(run: WorkerRun, options: RunOptions, results: () => ReadonlyMap<number, TaskResult>) {
    this.#run = run;
    this.#options = options;
    this.#results = results;
    this.#watch = new AbortWatch(options.maxAborted);
  }

  /**
   * Takes the folder for this trainer.
   * @param from Updates done.
   * @throws ToolEnvError `usage.shared_folder`, `usage.folder_in_use`, `usage.other_plan`; `usage.out_not_empty` if the folder
   *   belongs to another run.
   */
  async begin(from: number): Promise<void> {
    const { env, rollouts, resume, seed } = this.#run;
    const { groupSize, temperature, maxTokens, topP, topK, minP } = this.#options;
    const { deadline, onDeadline, onBug, onImages } = this.#options;
    this.#folder = await openSharedFolder(rollouts);
    this.#lock = await lockFolder(rollouts);
    await removePartials(rollouts);
    const vocabularySize = this.#run.learner.vocabularySize;
    this.#files = new GroupFiles(this.#folder.groups, { samples: groupSize, vocabularySize });
    const before = await readState(this.#folder.state);
    if (before && !resume) {
      const message = `The folder ${rollouts} has the rollouts of another run: choose another folder, or resume that run with --resume.`;
      throw new ToolEnvError('usage.out_not_empty', message);
    }
    this.#restarts = before ? [...before.restarts, from] : [];
    this.#policies = await policiesOf(this.#folder.policy);
    const sampling = { temperature, maxTokens, topP, ...(topK !== undefined && { topK }), minP };
    const played = { samples: groupSize, seed, ...sampling, deadline, onDeadline, onBug, onImages };
    await agreeOnPlan(this.#folder.plan, { version: 1, ...planOfEnv(env), split: 'train', ...played });
  }

  /**
   * The rollout of a step. To be called when the steps before have been learned from.
   * @param left Steps that are left, this one included.
   */
  async rollout(
    step: number,
    left: number,
    algorithm: Pick<Algorithm, 'resample' | 'learnsUnscored'>,
    scorer: GroupScorer | undefined,
  ): Promise<{ rollout: PlayedStep; staleness: number; close(): void }> {
    const { tasksPerStep, maxStaleness } = this.#options;
    const started = performance.now();
    const wanted = tasksPerStep * Math.min(maxStaleness + 1, left);
    const taken: ReadyGroup[] = [];
    const { scored, metrics: attempts } = await resampled(algorithm.resample, tasksPerStep, async (count) => {
      const open = taken.length + count + wanted - tasksPerStep;
      await this.groups.fill(open, (draws) => this.#draw(draws));
      await this.#publish(step);
      const found = await this.#take(step, count, taken);
      const more = scorer ? await this.#withScores(found, scorer) : found;
      taken.push(...more);
      return this.#scored(more, step, algorithm);
    });
    const played = taken.flatMap(({ episodes }) => episodes);
    for (const [index, trajectory] of played.entries()) trajectory.index = index;
    const ages = taken.map(({ policyVersion }) => step - policyVersion);
    const metrics: Metrics = {
      // Which part of the time went to the environment is known to the workers only.
      ...rolloutMetrics(played, { rollout: (performance.now() - started) / 1000 }),
      ...attempts,
      'staleness/max': Math.max(...ages),
      stale_episodes: this.#stale,
      damaged_groups: this.#damaged,
    };
    [this.#stale, this.#damaged] = [0, 0];
    const tasks = new Map(taken.map(({ group, episodes }) => [group, episodes[0]!.taskIndex]));
    return {
      rollout: { played, scored, tasks, metrics },
      staleness: mean(ages),
      close: () => {
        for (const { group } of taken) {
          this.groups.close(group);
          this.#ready.delete(group);
        }
      },
    };
  }

  /** Publishes the last policy and lets the workers end. */
  async finish(step: number): Promise<void> {
    await this.#publish(step, true);
  }

  /** Lets another trainer use the folder. */
  async release(): Promise<void> {
    await this.#lock?.release();
  }

  async #draw(draws: number): Promise<readonly number[]> {
    const { tasksPerStep, groupSize } = this.#options;
    const groups = { tasksPerStep, groupSize, seed: this.#run.seed };
    const wanted = { step: draws, count: tasksPerStep, attempt: 0, results: this.#results() };
    return [...(await draw(this.#run.env, groups, wanted)).tasks.values()];
  }

  /** The groups as the scorer of this process sees them: workers know no scorer. */
  async #withScores(groups: readonly ReadyGroup[], scorer: GroupScorer): Promise<ReadyGroup[]> {
    const { signal } = this.#run;
    return Promise.all(
      groups.map(async (group) => {
        // Numbers of groups are unique within this run.
        const episodes = await scorer.score(group.episodes, { watch: this.#watch, signal });
        return { ...group, episodes: episodes as StampedTrajectory[] };
      }),
    );
  }

  #scored(
    groups: readonly ReadyGroup[],
    step: number,
    algorithm: Pick<Algorithm, 'learnsUnscored'>,
  ): Trajectory[] {
    const scored = learnable(
      groups.flatMap(({ episodes }) => episodes),
      algorithm,
    );
    return this.#options.shuffleRewards ? shuffleRewards(scored, step) : scored;
  }

  /** `count` finished groups that are young enough, those with the oldest policy first. Waits for them. */
  async #take(step: number, count: number, except: readonly ReadyGroup[]): Promise<ReadyGroup[]> {
    const isTaken = new Set(except.map(({ group }) => group));
    for (let wait = poll.first; ; wait = Math.min(2 * wait, poll.longest)) {
      this.#run.signal?.throwIfAborted();
      const replaced = await this.#look(step, isTaken);
      if (replaced) await this.#publish(step);
      const ready = [...this.#ready.values()].filter(({ group }) => !isTaken.has(group));
      ready.sort((a, b) => a.policyVersion - b.policyVersion || a.group - b.group);
      if (ready.length >= count) {
        const taken = ready.slice(0, count);
        for (const { episodes } of taken) for (const { outcome } of episodes) this.#watch.add(outcome);
        return taken;
      }
      await sleep(wait, undefined, { signal: this.#run.signal }).catch(() => {});
    }
  }

  /** Reads the groups that have been finished since, and replaces groups that are too old. Returns whether there were any. */
  async #look(step: number, isTaken: ReadonlySet<number>): Promise<boolean> {
    const finished = new Set(await this.#files.list());
    let replaced = false;
    for (const [group, task] of this.groups.entries) {
      if (isTaken.has(group)) continue;
      if (!this.#ready.has(group)) {
        if (!finished.has(group)) continue;
        const episodes = await this.#files.read(group);
        if (!episodes) {
          this.#drop(group);
          replaced = true;
          continue;
        }
        this.#ready.set(group, readyGroup(group, episodes, this.#files.file(group)));
      }
      const { policyVersion, episodes } = this.#ready.get(group)!;
      const isOwn = episodes[0]!.taskIndex === task && isOfThisRun(episodes[0]!, this.#restarts);
      const age = step - policyVersion;
      if (isOwn && age >= 0 && age <= this.#options.maxStaleness) continue;
      this.#ready.delete(group);
      this.groups.replace(group);
      this.#stale += episodes.length;
      replaced = true;
    }
    return replaced;
  }

  /** Replaces a group whose file is not to be believed. Its episodes count as aborted, so that a worker that writes no others ends the run. */
  #drop(group: number): void {
    this.groups.replace(group);
    this.#damaged += 1;
    const cause = new ToolEnvError('infrastructure.damaged_group', this.#files.damage!);
    for (let sample = 0; sample < this.#options.groupSize; sample++) this.#watch.add(aborted(cause));
  }

  async #publish(step: number, finished = false): Promise<void> {
    const { policy: policies, state } = this.#folder;
    const policy = versionName(step, this.#restarts);
    const folder = join(policies, policy);
    if (!existsSync(folder)) {
      const { learner } = this.#run;
      const fill = (partial: string) => (learner.export ? learner.export(partial) : learner.save(partial));
      await withDiskErrors(folder, () => writeFolder(folder, fill));
      this.#policies.push(policy);
    }
    const open = finished ? [] : this.groups.entries;
    await writeState(state, { policyVersion: step, policy, restarts: this.#restarts, open, finished });
    // Workers may still be opening the policies before this one.
    for (const old of this.#policies.splice(0, this.#policies.length - this.#options.maxStaleness - 2)) {
      await refuseLostFolder(policies);
      await rm(join(policies, old), { recursive: true, force: true });
    }
    await this.#clean();
  }

  /** Removes the files of groups that no run needs any more. The run's trajectories.jsonl has their episodes. */
  async #clean(): Promise<void> {
    await refuseLostFolder(this.#run.rollouts);
    for (const folder of [this.#folder.groups, this.#folder.leases])
      await removeGroups(folder, (group) => this.groups.isOver(group));
  }
}

/** @throws ToolEnvError `usage.policy_version` for episodes whose policy is not known, because they may be of any age. */
function readyGroup(group: number, episodes: StampedTrajectory[], file: string): ReadyGroup {
  const { policyVersion } = episodes[0]!;
  if (Number.isInteger(policyVersion)) return { group, policyVersion: policyVersion!, episodes };
  const message = `${file} does not say which version of the policy played: start workers with --policy <folder>/policy/{version}, or with {version} in the name of the server's model.`;
  throw new ToolEnvError('usage.policy_version', message);
}

/** The names of the published policies, oldest first. Removes what a trainer that died had begun to publish. */
async function policiesOf(folder: string): Promise<string[]> {
  const found: { name: string; version: number; restart: number }[] = [];
  for (const name of await readdir(folder)) {
    const [, version, restart = '0'] = /^version-(\d+)(?:-r(\d+))?$/.exec(name) ?? [];
    if (version !== undefined) found.push({ name, version: Number(version), restart: Number(restart) });
    else if (name.endsWith('.partial')) await rm(join(folder, name), { recursive: true, force: true });
  }
  return found.sort((a, b) => a.restart - b.restart || a.version - b.version).map(({ name }) => name);
}
