/** ServeOptions: how an environment is served to clients on a port, whatever their protocol. The schema has the defaults. */
import { type EnvHandle, isInfrastructure, maxConcurrency, messageOf } from '@toolenv/core';
import { completeOptions } from '@toolenv/core/plugins';
import type { OptionsOf } from '@toolenv/core/schemas';
import { redactSecrets } from '@toolenv/core/secrets';
import type { EpisodeOptions } from './served-episodes.ts';

/** The times are at most the longest delay of setTimeout. */
export const serveProperties = {
  port: {
    type: 'integer',
    minimum: 0,
    maximum: 65_535,
    default: 0,
    description: 'port to listen on, 0 for any free port',
  },
  host: {
    type: 'string',
    minLength: 1,
    default: '127.0.0.1',
    description: 'address to listen on; at an address other than loopback, clients need a token',
  },
  token: { type: 'string', description: 'bearer token that every request must have, at least 16 characters' },
  allowedHosts: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    description:
      'host names that requests may name (default: on loopback its names, elsewhere any, because clients have the token)',
  },
  allowedOrigins: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    description:
      'origins of web pages that may send requests, besides those of this server itself, for example https://app.example',
  },
  maxSessions: {
    type: 'integer',
    minimum: 1,
    default: 1_000,
    description: 'largest number of clients at once; an environment that is not concurrent has one',
  },
  idleTimeout: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 2_147_483_647,
    default: 3_600_000,
    milliseconds: true,
    description: 'time without a call after which a session ends',
  },
  silenceTimeout: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 2_147_483_647,
    default: 60_000,
    milliseconds: true,
    description:
      'time without a call after which a client without a stream loses its session to a client that was refused',
  },
  requestTimeout: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 2_147_483_647,
    default: 30_000,
    milliseconds: true,
    description: 'time that a request may take to arrive, headers and body',
  },
  maxBodyBytes: { type: 'integer', minimum: 1, default: 4_194_304, description: 'largest body of a request' },
} as const;

/** Times are in milliseconds. */
export type ServeOptions = Partial<OptionsOf<{ type: 'object'; properties: typeof serveProperties }>>;
/** The options of a server, with the defaults filled in. */
export type CompleteServeOptions = OptionsOf<{ type: 'object'; properties: typeof serveProperties }>;

/**
 * The options with their defaults.
 * @param owner Names the server in errors.
 * @throws ToolEnvError `usage.bad_option`, `usage.unknown_option`.
 */
export function completeServeOptions(given: ServeOptions, owner: string): CompleteServeOptions {
  return completeOptions({ type: 'object', properties: serveProperties }, given, owner);
}

/** The options of a server, which takes no more clients than its environment can play with at once. */
export function placesFor<Options extends ServeOptions>(
  { capabilities }: Pick<EnvHandle<never>, 'capabilities'>,
  given: Options,
): Options & { maxSessions: number } {
  const { maxSessions = serveProperties.maxSessions.default } = given;
  return { ...given, maxSessions: Math.min(maxSessions, maxConcurrency(capabilities)) };
}

/** How an environment is served. */
export interface ServeEnvOptions extends ServeOptions, EpisodeOptions {
  /**
   * Called with the causes of aborted episodes, of which the client learns only the code, and with errors that are bugs. Default:
   * write to stderr.
   */
  onError?(error: unknown): void;
}

/** A served environment. */
export interface EnvService {
  /** The base URL that clients are given: `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Settles after {@link close}. */
  readonly closed: Promise<void>;
  /** Refuses new clients, and answers 503 to `/health`. Resolves when no session is open, or after this many milliseconds. */
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

/** What a server does with errors, by default. The stack of a failing machine says nothing. */
export function writeToStderr(error: unknown): void {
  const isBug = error instanceof Error && !isInfrastructure(error);
  process.stderr.write(`${redactSecrets((isBug && error.stack) || messageOf(error))}\n`);
}
