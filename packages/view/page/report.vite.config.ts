/** The page as one script and one style sheet, which reports carry. */
import { join } from 'node:path';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    outDir: '../dist/report-page',
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    license: { fileName: 'third-party-licenses.md' },
    lib: {
      entry: join(import.meta.dirname, 'main.tsx'),
      formats: ['es'],
      fileName: () => 'report.js',
      cssFileName: 'report',
    },
  },
});
