/**
 * Three projects of tests. `npm test` runs `unit`, which an edit waits for. `npm run test:process` runs the tests that start servers, Python,
 * containers and commands, build indexes, or run the blocks of documents. `npm run test:browser` runs the pages in Chromium.
 */
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

type ProjectTest = NonNullable<TestProjectInlineConfiguration['test']>;

function project(test: ProjectTest): TestProjectInlineConfiguration {
  return {
    resolve: { conditions: ['@toolenv/source'] },
    ssr: { resolve: { conditions: ['@toolenv/source', 'node'] } },
    test: {
      // The files of a worker share its process, which halves the time. So a test puts back what it changes of the process, and
      // `same-process.ts` fails a file that does not.
      setupFiles: ['workshop/test/same-process.ts'],
      pool: 'forks',
      isolate: false,
      restoreMocks: true,
      unstubEnvs: true,
      // Tests damage indexes on purpose, of which LanceDB warns. Workers share the cores, so a thread that waits must not spin.
      env: { LANCEDB_LOG: 'error', OMP_WAIT_POLICY: 'PASSIVE' },
      ...test,
    },
  };
}

export default defineConfig({
  test: {
    projects: [
      project({
        name: 'unit',
        include: ['{packages/*,studies,workshop,site}/test/**/*.test.ts'],
        globalSetup: ['workshop/test/build.ts', 'workshop/test/temporary-folder.ts'],
        // Workers wait for processes and timers a quarter of the time.
        maxWorkers: 3,
        testTimeout: 60_000,
        sequence: { groupOrder: 0 },
      }),
      project({
        name: 'process',
        // `npm run packed` runs the tests of the templates.
        include: ['{packages/*,studies,workshop}/process-test/**/*.test.ts'],
        globalSetup: ['workshop/test/build.ts', 'workshop/test/temporary-folder.ts'],
        // Most of these tests wait for processes, some for a timeout.
        maxWorkers: 4,
        // They share the cores, and a slow machine takes three times as long. A test that hangs still ends.
        testTimeout: 240_000,
        hookTimeout: 240_000,
        sequence: { groupOrder: 1 },
      }),
      project({
        name: 'browser',
        // CHROMIUM names the program; the default is Debian's.
        include: ['packages/*/browser-test/**/*.test.ts', 'site/**/browser-test/**/*.test.ts'],
        globalSetup: ['packages/view/browser-test/build-page.ts', 'workshop/test/temporary-folder.ts'],
        // Each test measures a browser, which takes both cores.
        maxWorkers: 1,
        testTimeout: 60_000,
        sequence: { groupOrder: 2 },
      }),
    ],
  },
});
