/** @toolenv/core/serving: what servers of environments share, whatever protocol their clients speak. */
export { closeInTime } from './close-in-time.ts';
export { HttpAccess, isLoopback, type Refusal } from './http-access.ts';
export { type Body, readBody } from './http-body.ts';
export { type HttpListener, listen } from './http-listener.ts';
export { replyJson } from './http-reply.ts';
export { type Metric, processMetrics, prometheusText, prometheusType } from './prometheus-text.ts';
export {
  type CompleteServeOptions,
  completeServeOptions,
  type ServeOptions,
  serveProperties,
  writeToStderr,
} from './serve-options.ts';
export {
  type EpisodeOptions,
  endText,
  type ScoredTransition,
  type ServedEnv,
  type ServedEpisode,
  ServedEpisodes,
  tasksOf,
  type WantedEpisode,
} from './served-episodes.ts';
