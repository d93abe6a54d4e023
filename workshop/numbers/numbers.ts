/** `npm run numbers`: puts the figures of docs/benchmarks into the pages that show them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBenchmarkFiles } from './benchmark-files.ts';
import { figuresOf } from './figures.ts';
import { fill } from './fill.ts';
import { pages, root } from './pages.ts';

const figures = figuresOf(readBenchmarkFiles());
for (const page of pages()) {
  const file = join(root, page);
  const text = readFileSync(file, 'utf8');
  const filled = fill(text, figures);
  if (filled === text) continue;
  writeFileSync(file, filled);
  console.log(`${page} has new numbers`);
}
