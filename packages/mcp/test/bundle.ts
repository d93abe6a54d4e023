/** Servers of tests as single files. Node starts them in half of the time, and TypeScript in a fifth. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

let folder: string | undefined;
const bundles = new Map<string, string>();

/**
 * Bundles a program once per process, and returns the path of the bundle.
 * @param at The file that `import.meta` names in the whole bundle. Default: the program.
 */
export function bundle(program: string, at: string = program): string {
  const known = bundles.get(program);
  if (known !== undefined) return known;
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'toolenv-bundles-'));
    process.on('exit', () => rmSync(made, { recursive: true, force: true }));
    folder = made;
  }
  // Tests find their processes by the name of the package or program.
  const name = program.split(sep).slice(-3).join('-');
  const outfile = join(folder, `${bundles.size}-${name}.mjs`);
  buildSync({
    entryPoints: [program],
    outfile,
    bundle: true,
    minifyWhitespace: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@toolenv/source'],
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(at).href) },
    // CommonJS modules in the bundle require the modules of Node.
    banner: {
      js: `import { createRequire as toRequire } from 'node:module'; const require = toRequire(import.meta.url);`,
    },
    logLevel: 'error',
  });
  bundles.set(program, outfile);
  return outfile;
}
