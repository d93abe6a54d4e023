/** @toolenv/core/env: what kinds of environments are made of, besides `defineToolEnv`. */
export { guardEnv } from '../boundary/guarded-env.ts';
export { networkFault } from '../boundary/machinery-fault.ts';
export { scoreTruncation } from '../protocol/reward.ts';
export { declareEnv, type EnvDeclaration } from './declare-env.ts';
export { expectStep, RunningEpisode } from './running-episode.ts';
export { scoreTurn } from './score-turn.ts';
export { Spool } from './spool.ts';
