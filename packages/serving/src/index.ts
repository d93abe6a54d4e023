/** @toolenv/serving: what servers of environments share, whatever protocol their clients speak. */
export { clientKey } from './client-key.ts';
export { ClientSession, type SessionHooks, type SessionOptions } from './client-session.ts';
export { HttpAccess, isLoopback, type Refusal } from './http-access.ts';
export { type Body, readBody, readBytes, replyJson } from './http-body.ts';
export { type HttpListener, listen, listenGuarded } from './http-listener.ts';
export { newMessages } from './new-messages.ts';
export { CapacityError, OpenSessions } from './open-sessions.ts';
export { type Metric, processMetrics, prometheusText, prometheusType } from './prometheus-text.ts';
export { requestUrl } from './request-url.ts';
export type * from './serve-options.ts';
export { completeServeOptions, placesFor, serveProperties, writeToStderr } from './serve-options.ts';
export { servedEnd } from './served-end.ts';
export type * from './served-episodes.ts';
export { closeWithTimeout, endText, ServedEpisodes, servedName } from './served-episodes.ts';
export { ServerMetrics } from './server-metrics.ts';
export { openSocketDoor, type SocketDoor } from './socket-door.ts';
