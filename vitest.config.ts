import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@toolenv/source'] },
  ssr: { resolve: { conditions: ['@toolenv/source', 'node'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'templates/*/test/**/*.test.ts', 'workshop/test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
  },
});
