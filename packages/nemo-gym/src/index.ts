/** @toolenv/nemo-gym: environments on resources servers of NeMo Gym. */
export { default as nemoGymV1 } from './nemo-gym-v1.ts';
export type { NemoGymRow } from './rows.ts';
