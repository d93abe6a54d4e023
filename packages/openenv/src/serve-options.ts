/** OpenEnvServeOptions: how an environment is served to OpenEnv clients. The schema has the defaults. */
import type { OptionsOf } from '@toolenv/core/schemas';
import { serveProperties } from '@toolenv/core/serving';

export const serveOptionsSchema: {
  readonly type: 'object';
  readonly properties: typeof serveProperties;
} = { type: 'object', properties: serveProperties };

/** Times are in milliseconds. */
export type OpenEnvServeOptions = Partial<OptionsOf<typeof serveOptionsSchema>>;
