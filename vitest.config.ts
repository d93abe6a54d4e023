import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@toolenv/source'] },
  ssr: { resolve: { conditions: ['@toolenv/source', 'node'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'workshop/test/**/*.test.ts', 'site/test/**/*.test.ts'],
    globalSetup: ['workshop/test/build.ts', 'workshop/test/temporary-folder.ts'],
    // The files of a worker share its process, which halves the time. So a test puts back what it changes of the process, and
    // `same-process.ts` fails a file that does not.
    setupFiles: ['workshop/test/same-process.ts'],
    pool: 'forks',
    isolate: false,
    // Workers wait for processes and timers a quarter of the time.
    maxWorkers: 3,
    restoreMocks: true,
    unstubEnvs: true,
    testTimeout: 60_000,
    // Tests damage indexes on purpose, of which LanceDB warns. Workers share the cores, so a thread that waits must not spin.
    env: { LANCEDB_LOG: 'error', OMP_WAIT_POLICY: 'PASSIVE' },
  },
});
