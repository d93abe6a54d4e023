/** importRemedy: what an author does about a module that Node cannot import. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../protocol/errors.ts';

/** Endings that authors leave out, and that compilers replace. */
const endings = ['.js', '.ts', '.mjs', '.mts', '.json'];

/** The remedy as sentences, for errors of Node whose messages name none; otherwise `undefined`. */
export function importRemedy(error: unknown): string | undefined {
  const { code, url } = Object(error) as NodeJS.ErrnoException & { url?: unknown };
  const message = messageOf(error);
  const importer = / imported from (.+)$/m.exec(message)?.[1];
  const missing = typeof url === 'string' ? missingFile(url) : undefined;
  if (code === 'ERR_UNSUPPORTED_DIR_IMPORT' && missing && importer)
    return remedyForPath(missing, importer, join(missing, 'index'));
  if (code === 'ERR_MODULE_NOT_FOUND') {
    const wanted = /package '([^']+)'/.exec(message)?.[1];
    if (wanted !== undefined) return remedyForPackage(wanted);
    if (missing && importer) return remedyForPath(missing, importer, missing.replace(/\.[cm]?[jt]s$/, ''));
  }
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' || code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    return 'Node does not read TypeScript in packages: build it, and name the built file in "exports" of package.json.';
  if (code === 'ERR_IMPORT_ATTRIBUTE_MISSING' || code === 'ERR_IMPORT_ASSERTION_TYPE_MISSING')
    return "Write what the file is after its name: import rows from './rows.json' with { type: 'json' }.";
  if (/^Cannot use import statement outside a module|^Unexpected token 'export'/.test(message))
    return 'It is an ES module: add "type": "module" to its package.json.';
  if (/^(exports|require|module) is not defined/.test(message))
    return 'It is CommonJS: build ES modules, with "module": "nodenext" in tsconfig.json, and write import instead of require.';
  return undefined;
}

function missingFile(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

/** @param stem The path of the file that was meant, without its ending. */
function remedyForPath(missing: string, importer: string, stem: string): string {
  const from = dirname(fileOf(importer));
  const ending = endings.find((each) => existsSync(stem + each));
  const written = importPath(from, missing);
  if (ending === undefined)
    return `${basename(importer)} imports "${written}", and there is no such file: correct the path, or build the package.`;
  return `In ${basename(importer)} and its source, write the whole name of the file: "${importPath(from, stem + ending)}" for "${written}".`;
}

/** The importing file is an address where a loader such as tsx is at work. */
function fileOf(importer: string): string {
  return (importer.startsWith('file:') ? missingFile(importer) : undefined) ?? importer;
}

function importPath(from: string, file: string): string {
  const path = relative(from, file).replaceAll('\\', '/');
  return path.startsWith('.') ? path : `./${path}`;
}

function remedyForPackage(name: string): string {
  if (/^(@|~|src)(\/|$)/.test(name))
    return 'Node does not read "paths" of tsconfig.json: import the file by a relative path, such as "./helper.js".';
  return `Install it: npm install ${name}`;
}
