/** @toolenv/view: the pages of toolenv. */
export {
  type HandPlayedEpisode,
  type Player,
  playByHand,
  type Replayed,
  type WrittenTurn,
} from './play/play-by-hand.ts';
export { type PlayOptions, servePlay } from './play/serve-play.ts';
export { solutionOf } from './play/solution.ts';
export { makeReport, type ReportOptions } from './report/make-report.ts';
export type { ServedPage } from './serve-page.ts';
export type { KnownEnv } from './view/routes.ts';
export { serveView, type ViewOptions } from './view/serve-view.ts';
export type { TokenTexts } from './view/token-texts.ts';
