/**
 * `npm run docs` builds the site in `site/dist`. It fails if a part of the build warns, or if a link leads nowhere. `npm run docs:dev`
 * serves the site, and follows changes of the Markdown. SITE_BASE is the path of the site on its host; the default is `/`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brokenLinks } from './broken-links.ts';
import { generate } from './generate/generate.ts';
import { repository } from './pages.ts';

const isDev = process.argv.includes('--dev');
const begun = performance.now();

const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
if (scripts['build:playground'] !== undefined)
  execFileSync('npm', ['run', 'build:playground'], { cwd: repository, stdio: 'inherit' });
await generate();
const output = await vitepress(isDev ? 'dev' : 'build');
if (!isDev) {
  const warnings = output.split('\n').filter((line) => /warn|\(!\)|deprecat/i.test(line));
  const faults = [
    ...warnings,
    ...brokenLinks(join(import.meta.dirname, 'dist'), process.env.SITE_BASE ?? '/'),
  ];
  if (faults.length > 0) {
    console.error(`\nThe site has faults:\n${faults.join('\n')}`);
    process.exitCode = 1;
  } else {
    console.log(`site/dist is built, in ${((performance.now() - begun) / 1000).toFixed(0)} s.`);
  }
}

/** Runs VitePress. Returns what it printed. */
function vitepress(command: 'build' | 'dev'): Promise<string> {
  const program = join(repository, 'node_modules/vitepress/bin/vitepress.js');
  const child = spawn(process.execPath, [program, command, import.meta.dirname], {
    stdio: ['inherit', 'pipe', 'pipe'],
  });
  let printed = '';
  child.stdout.on('data', (text) => {
    printed += text;
    process.stdout.write(text);
  });
  child.stderr.on('data', (text) => {
    printed += text;
    process.stderr.write(text);
  });
  return new Promise((resolve, reject) => {
    child.on('close', (code) => {
      if (code === 0) resolve(printed);
      else reject(new Error(`VitePress failed with exit code ${code}.`));
    });
  });
}
