/** The package of plugins that the tests of the command line name. */
import { join } from 'node:path';

export const fixture = {
  env: 'fixture-plugin/lamp-v1',
  policy: 'fixture-plugin/weight-v1',
  trainer: 'fixture-plugin/nudge-v1',
  folder: join(import.meta.dirname, 'fixture-plugin'),
};
