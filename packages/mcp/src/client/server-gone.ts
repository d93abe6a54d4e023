/** The errors of a transport: the server is gone, or one call is lost and the server may still run. */

/** A message could not be sent because the server does not read its input. This may be noticed before the end of the process. */
export class ServerGone extends Error {}

/** A request over HTTP failed without an answer. */
export class RequestLost extends Error {}

/** The error in place of an answer, after the stream of a request ended without one. */
export const streamEnded: { code: number; message: string } = {
  code: -32000,
  message: 'the stream of the call ended without an answer',
};
