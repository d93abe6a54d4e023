/** @toolenv/serving: what servers of environments share, whatever protocol their clients speak. */

export { ClientSession, type SessionHooks, type SessionOptions } from './client-session.ts';
export { clientKey, HttpAccess, isLoopback, type Refusal } from './http-access.ts';
export { type Body, readBody, readBytes, replyJson, requestUrl } from './http-body.ts';
export { type HttpListener, listen, listenGuarded } from './http-listener.ts';
export { CapacityError, isProbe, OpenSessions } from './open-sessions.ts';
export type * from './serve-options.ts';
export { completeServeOptions, placesFor, serveProperties, writeToStderr } from './serve-options.ts';
export type * from './served-episodes.ts';
export {
  answerToolNamed,
  closeWithTimeout,
  endText,
  newMessages,
  ServedEpisodes,
  servedName,
} from './served-episodes.ts';
export { type ServedStep, ServedTurn, servedEnd } from './served-turn.ts';
export {
  type Metric,
  processMetrics,
  prometheusText,
  prometheusType,
  ServerMetrics,
} from './server-metrics.ts';
export { openSocketDoor, type SocketDoor } from './socket-door.ts';
