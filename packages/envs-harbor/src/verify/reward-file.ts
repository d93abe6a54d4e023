/** Reads what a verifier says: reward.json, a table of numbers, or reward.txt, a number. */
import { isObject, tryJson } from '@toolenv/core/schemas';
import type { HarborStep, HarborTask } from '../task/harbor-task.ts';

/** Rewards by name. `reward.txt` names its number `reward`. */
export type RewardTable = Readonly<Record<string, number>>;

/** What is known after a step: its rewards, or why the verifier gave none. */
export type Verdict =
  | { readonly reward: number; readonly table: RewardTable }
  | { readonly reward: 0; readonly failed: string };

/** Bytes of a file. */
export const maxRewardLength = 2 ** 16;

const maxRewards = 100;

/**
 * The verdict in the files of a verifier; reward.json counts if both are there, as in Harbor. The reward is the number named `reward`, or
 * the mean of all if none has this name. It must lie between 0 and 1.
 * @param files Content by name; a file that lacks is absent.
 */
export function readReward(files: Readonly<Record<string, Uint8Array | undefined>>): Verdict {
  const name = ['reward.json', 'reward.txt'].find((each) => files[each]);
  if (name === undefined) return failed('it wrote neither reward.txt nor reward.json');
  const bytes = files[name]!;
  if (bytes.length > maxRewardLength) return failed(`${name} has more than ${maxRewardLength} bytes`);
  const text = new TextDecoder().decode(bytes).trim();
  if (text === '') return failed(`${name} is empty`);
  const table = name === 'reward.txt' ? readNumber(text) : readTable(text);
  if (typeof table === 'string') return failed(`${name} ${table}`);
  const reward = rewardOf(table);
  if (reward < 0 || reward > 1) return failed(`the reward is ${reward}, and must lie between 0 and 1`);
  return { reward, table };
}

/** A verdict without rewards. It scores 0: what breaks a verifier is the work of the agent, because the verifier has no other input. */
export function failed(why: string): Verdict {
  return { reward: 0, failed: why };
}

function readNumber(text: string): RewardTable | string {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return 'is not a number';
  const value = Number(text);
  return Number.isFinite(value) ? { reward: value } : 'is not a finite number';
}

function readTable(text: string): RewardTable | string {
  const table = tryJson(text);
  if (!isObject(table)) return 'is not a table in JSON';
  const entries = Object.entries(table);
  if (entries.length === 0) return 'is an empty table';
  if (entries.length > maxRewards) return `has more than ${maxRewards} rewards`;
  const wrong = entries.find(([, value]) => typeof value !== 'boolean' && !Number.isFinite(value));
  if (wrong) return `has a reward that is not a finite number: ${JSON.stringify(wrong[0].slice(0, 100))}`;
  return Object.fromEntries(entries.map(([name, value]) => [name, Number(value)]));
}

function rewardOf(table: RewardTable): number {
  if (Object.hasOwn(table, 'reward')) return table.reward!;
  const values = Object.values(table);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * `mean`: the mean over all steps of the task. `final`: the reward of the last step. A step that was not reached counts as 0; Harbor's mean
 * leaves it out, by which an agent could gain if it failed early.
 */
export function trialReward({ strategy, steps }: HarborTask, verdicts: readonly Verdict[]): number {
  if (strategy === 'final') return verdicts[steps.length - 1]?.reward ?? 0;
  return verdicts.reduce((sum, { reward }) => sum + reward, 0) / steps.length;
}

/** Whether a step ends the task because one of its rewards is below its threshold, or lacks. */
export function isBelow({ minReward }: HarborStep, verdict: Verdict): boolean {
  const table = 'table' in verdict ? verdict.table : {};
  return Object.entries(minReward).some(
    ([name, least]) => !(Object.hasOwn(table, name) && table[name]! >= least),
  );
}
