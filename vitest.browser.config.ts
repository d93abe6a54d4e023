/** `npm run test:browser`: the pages in Chromium. CHROMIUM names the program; the default is Debian's. */
import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ['packages/*/browser-test/**/*.test.ts', 'site/**/browser-test/**/*.test.ts'],
    globalSetup: ['packages/view/browser-test/build-page.ts', 'workshop/test/temporary-folder.ts'],
    // Each test measures a browser, which takes both cores.
    maxWorkers: 1,
  },
});
