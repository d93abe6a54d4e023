/** @toolenv/envs-harbor: Harbor tasks for agents of your own. */
export { Harbor, openHarbor } from './harbor.ts';
export { type AgentRun, HarborEpisode, type ModelAddress } from './harbor-episode.ts';
export type { HarborOptions } from './harbor-options.ts';
export type { PlayedTask } from './task/read-tasks.ts';
export type { Judgement } from './verify/judge.ts';
export type { RewardTable, Verdict } from './verify/reward-file.ts';
