/**
 * `npm run docs` builds the site in `site/dist`, with llms.txt. It fails if a part of the build warns, a link leads nowhere, or a page weighs
 * more than 300 kB. `npm run docs:dev`
 * serves the site, and follows changes of the Markdown. SITE_ADDRESS is where the site will be, for its sitemap and its links; the default is the root of any host.
 */
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { siteAddress } from './addresses.ts';
import { brokenLinks } from './broken-links.ts';
import { generate } from './generate/generate.ts';
import { writeLlmsFiles } from './llms.ts';
import { pageWeights } from './page-weights.ts';
import { repository } from './pages.ts';

const isDev = process.argv.includes('--dev');
const dist = join(import.meta.dirname, 'dist');
const { host = '', base } = siteAddress();
const begun = performance.now();

execFileSync('npm', ['run', 'build:playground'], { cwd: repository, stdio: 'inherit' });
await generate();
const warnings = await vitepress(isDev ? 'dev' : 'build');
if (!isDev) {
  writeLlmsFiles(dist, host + base);
  const { tooHeavy, heaviest } = pageWeights(dist, base);
  const faults = [...warnings, ...brokenLinks(dist, base), ...tooHeavy];
  if (faults.length > 0) {
    console.error(`\nThe site has faults:\n${faults.join('\n')}`);
    process.exitCode = 1;
  } else {
    console.log(`site/dist is built, in ${((performance.now() - begun) / 1000).toFixed(0)} s. ${heaviest}.`);
  }
}

/** Runs VitePress. Returns its warnings: the lines of stderr that are not about progress. */
function vitepress(command: 'build' | 'dev'): Promise<string[]> {
  const program = join(repository, 'node_modules/vitepress/bin/vitepress.js');
  // More than a thousand pages are compiled: with V8's small space for new objects, the collector takes a sixth of the time.
  const child = spawn(process.execPath, ['--max-semi-space-size=64', program, command, import.meta.dirname], {
    stdio: ['inherit', 'inherit', 'pipe'],
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    process.stderr.write(text);
  });
  return new Promise((resolve, reject) => {
    child.on('close', (code) => {
      const lines = stripVTControlCharacters(printed).split('\n');
      // Ctrl-C ends the server.
      if (code === 0 || command === 'dev')
        resolve(lines.filter((line) => line.trim() !== '' && !/^[-✓] /.test(line)));
      else reject(new Error(`VitePress failed with exit code ${code}.`));
    });
  });
}
