/** @toolenv/view/recorded: finds recorded runs, and reads and filters their episodes. */
export { type ScoreRow, validationScores } from '../overview/score-rows.ts';
export {
  containsText,
  type EpisodeConditions,
  type EpisodeSummary,
  readConditions,
  summaryOf,
} from './episode-filter.ts';
export { endOf, mistakeCodes, mistakeOf, outcomeKinds, type RecordedEpisode } from './recorded-episode.ts';
export { findRecordedRun, type RecordedRun } from './recorded-run.ts';
