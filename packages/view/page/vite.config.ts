import { defineConfig } from 'vite';

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { outDir: '../dist/page', emptyOutDir: true, target: 'es2022', reportCompressedSize: false },
});
