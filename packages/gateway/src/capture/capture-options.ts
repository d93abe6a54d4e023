/** CaptureOptions: which server is recorded, and how clients reach it. The schema has the defaults. */
import { type ServeOptions, serveProperties } from '@toolenv/serving';

/** What `capture` needs besides an address to listen on. */
export interface CaptureOptions extends ServeOptions {
  /** Base URL of the server, as its clients are given it. */
  upstream: string;
  /** JSONL file that conversations are appended to. */
  out: string;
  /** Key of the server. Default: that of each client. */
  key?: string;
  /** Header of a request that names its user. Default: the request itself does, in the field of its API. */
  userHeader?: string;
  /** Called with what could not be forwarded or written. Default: write to stderr. */
  onError?(error: unknown): void;
  /** Called with why an answer is not recorded, once for each reason. Default: write to stderr. */
  onSkip?(reason: string): void;
}

const own = {
  idleTimeout: {
    type: 'number',
    exclusiveMinimum: 0,
    maximum: 2_147_483_647,
    default: 300_000,
    milliseconds: true,
    description: 'time without a request after which a conversation is written',
  },
  maxBodyBytes: {
    type: 'integer',
    minimum: 1,
    default: 67_108_864,
    description: 'largest body of a request',
  },
  userHeader: {
    type: 'string',
    pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
    description:
      'header that names the user of a request, such as x-user-id (default: the request itself, in user, safety_identifier or metadata.user_id)',
  },
} as const;

/** JSON Schema of the options of its listener, with defaults. */
export const captureSchema: {
  readonly type: 'object';
  readonly properties: Omit<typeof serveProperties, keyof typeof own> & typeof own;
} = { type: 'object', properties: { ...serveProperties, ...own } };
