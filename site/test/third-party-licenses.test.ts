/** The playground's licences: a build with Vite's page and worker names what each of them bundles. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { thirdPartyLicenses } from '../playground/third-party-licenses.ts';

test('packages of the page and of its worker are named with their licences', async () => {
  const { build } = await import('vite');
  const root = await mkdtemp(join(import.meta.dirname, 'licences-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFile(join(root, 'index.html'), '<script type="module" src="page.js"></script>');
  const worker = "new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });";
  await writeFile(join(root, 'page.js'), `import { h } from 'preact';\nconsole.log(h);\n${worker}`);
  await writeFile(join(root, 'worker.js'), "import { LRUCache } from 'lru-cache';\nconsole.log(LRUCache);\n");
  await build({
    root,
    configFile: false,
    logLevel: 'silent',
    plugins: [thirdPartyLicenses('page.md')],
    worker: { format: 'es', plugins: () => [thirdPartyLicenses('worker.md')] },
  });
  const [page, ofWorker] = await Promise.all(
    ['page.md', 'worker.md'].map((file) => readFile(join(root, 'dist', file), 'utf8')),
  );
  expect(page).toMatch(/^## preact - \d[^\n]* \(MIT\)\n\n[^#]*Copyright[^#]*$/m);
  expect(page).not.toContain('lru-cache');
  expect(ofWorker).toMatch(/^## lru-cache - \d/m);
});
