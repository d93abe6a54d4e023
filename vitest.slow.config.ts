/** `npm run test:slow`: the guides' blocks and commands, and the baselines of the environments. */
import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

export default defineConfig({
  ...config,
  test: { ...config.test, include: ['workshop/slow-test/**/*.test.ts'] },
});
