/** @toolenv/core/wrappers: wrappers that change an environment's limits, rewards or context, or record its episodes. */

export { type MixedTask, mixEnvs } from './mix-envs.ts';
export { type TimeLimit, timeLimit } from './time-limit.ts';
export { transformObservation } from './transform-observation.ts';
export { type RewardTransform, transformReward } from './transform-reward.ts';
export { truncateHistory } from './truncate-history.ts';
export { type OnEpisode, recordEpisodeStatistics, recordEpisodes, watchEpisodes } from './watch-episodes.ts';
export { type ObservationWindow, windowObservation } from './window-observation.ts';
export { type Curriculum, type CurriculumState, withCurriculum } from './with-curriculum.ts';
export { withPrompts } from './with-prompts.ts';
export { type Skill, withSkill } from './with-skill.ts';
export type { Wrappable, Wrapped } from './wrap.ts';
