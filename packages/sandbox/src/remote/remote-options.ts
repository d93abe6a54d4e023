/** Options that the providers of remote machines share. */
import type { JsonSchema } from '@toolenv/core';
import { limitProperties } from '../limits.ts';

export interface RemoteOptions {
  /** Milliseconds of a command. */
  timeout: number;
  /** Bytes that are kept of stdout, and of stderr. */
  output: number;
  /** Seconds. */
  ttl: number;
  network: boolean;
  user: string;
  spare: number;
}

export const remoteProperties = {
  timeout: limitProperties.timeout,
  output: limitProperties.output,
  ttl: {
    type: 'integer',
    minimum: 60,
    default: 900,
    description:
      'seconds after which a machine ends by itself when this process was killed; until then, the process renews it',
  },
  network: { type: 'boolean', default: false, description: 'whether the machines reach the internet' },
  user: { type: 'string', default: '', description: "user of the commands; default: the image's" },
  spare: { type: 'integer', minimum: 0, default: 0, description: 'machines that are kept ready' },
} as const satisfies Record<string, JsonSchema>;
