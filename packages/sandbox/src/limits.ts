/** Limits of a sandbox, which are options of each provider. */
import type { JsonSchema } from '@toolenv/core';

/** What the commands of a sandbox may use. */
export interface SandboxLimits {
  /** MiB of memory for all processes together. */
  memory: number;
  /** MiB of files. */
  disk: number;
  /** Milliseconds of a command. */
  timeout: number;
  /** Bytes that are kept of stdout, and of stderr. */
  output: number;
}

/** JSON Schema of {@link SandboxLimits}, with defaults. */
export const limitProperties = {
  memory: { type: 'integer', minimum: 16, default: 512, description: 'MiB of memory' },
  disk: { type: 'integer', minimum: 1, default: 64, description: 'MiB of files' },
  timeout: {
    type: 'integer',
    minimum: 1,
    default: 10_000,
    description: 'milliseconds after which a command is killed',
  },
  output: {
    type: 'integer',
    minimum: 1,
    maximum: 16_777_216,
    default: 65_536,
    description:
      'bytes that are kept of stdout, and of stderr; a command that writes 64 times as much is killed',
  },
} as const satisfies Record<string, JsonSchema>;

/** Limits of the providers whose commands are processes. */
export interface ProcessLimits extends SandboxLimits {
  processes: number;
}

export const processLimitProperties = {
  ...limitProperties,
  disk: {
    ...limitProperties.disk,
    description: 'MiB of files in /work, and again in /tmp; both count as memory',
  },
  processes: { type: 'integer', minimum: 16, default: 128, description: 'processes and threads at once' },
} as const satisfies Record<string, JsonSchema>;

/** The folder in which the first command runs, and where files belong. */
export const workFolder = '/work';

/** Bytes of a command. A longer one is not started: Linux allows no longer argument. */
export const maxCommandLength = 100_000;

/** Milliseconds that reading or writing a file may take. */
export const fileTime = 30_000;

/** Bytes of a file that `read` returns. */
export const maxFileSize: number = 16 * 2 ** 20;

/** Entries that `list` returns. */
export const maxEntries = 10_000;

/** A command that writes so many times the kept bytes is killed. */
export const wastedOutput = 64;
