import { join } from 'node:path';
import { defineConfig } from 'vite';

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/page',
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    // The packages in the bundles are under licences that must go with their copies.
    license: { fileName: 'third-party-licenses.md' },
    rolldownOptions: { input: ['index.html', 'play.html'].map((name) => join(import.meta.dirname, name)) },
  },
});
