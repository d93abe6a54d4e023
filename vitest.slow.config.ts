/** `npm run test:slow`: the guides' blocks and commands, and the baselines of the environments. */
import { defineConfig, mergeConfig } from 'vitest/config';
import config from './vitest.config.ts';

const slow = mergeConfig(config, defineConfig({}));
slow.test.include = ['workshop/slow-test/**/*.test.ts'];
export default slow;
