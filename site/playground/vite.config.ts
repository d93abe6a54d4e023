import { join } from 'node:path';
import { defineEnv } from 'unenv';
import { defineConfig } from 'vite';
import { thirdPartyLicenses } from './third-party-licenses.ts';

const here = import.meta.dirname;
const inMemory = (name: string) => join(here, 'node', `${name}.ts`);

/** Node's modules in a tab: unenv's, except files, hashes and streams, which must work. */
const replaced = {
  fs: inMemory('fs'),
  'fs/promises': inMemory('fs-promises'),
  events: inMemory('events'),
  crypto: inMemory('crypto'),
  module: inMemory('module'),
  os: inMemory('os'),
};
const { env } = defineEnv({
  overrides: {
    alias: Object.fromEntries(
      Object.entries(replaced).flatMap(([name, file]) => [
        [name, file],
        [`node:${name}`, file],
      ]),
    ),
  },
});
// Exact names, so that `buffer/` of npm stays.
const alias = Object.entries(env.alias).map(([name, replacement]) => ({
  find: new RegExp(`^${name}$`),
  replacement,
}));
const rolldownOptions = { transform: { inject: env.inject as Record<string, string | [string, string]> } };

export default defineConfig({
  root: here,
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: { alias, conditions: ['@toolenv/source', 'module', 'browser', 'production'] },
  plugins: [thirdPartyLicenses('third-party-licenses.md')],
  worker: {
    format: 'es',
    rolldownOptions,
    plugins: () => [thirdPartyLicenses('third-party-licenses-of-the-worker.md')],
  },
  build: {
    outDir: '../public/playground',
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    // As for `@toolenv/view`.
    license: { fileName: 'third-party-licenses.md' },
    chunkSizeWarningLimit: 2000,
    // A worker is a separate build, and takes long.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
