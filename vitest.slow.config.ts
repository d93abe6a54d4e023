/** `npm run test:slow`: the guides' blocks and commands, the baselines of the environments, and the tests that start and end many processes. */
import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

export default defineConfig({
  ...config,
  test: {
    ...config.test,
    // `npm run packed` runs the tests of the templates.
    include: ['packages/*/slow-test/**/*.test.ts', 'workshop/slow-test/**/*.test.ts'],
    // Most of these tests wait for processes, some for a timeout.
    maxWorkers: 4,
    // They share the cores, and a slow machine takes three times as long. A test that hangs still ends.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
