/** checkPlugin: checks a package's manifest and its entry files against the PLUG rules of the spec. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, extname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf, ToolEnvError } from '@toolenv/core';
import {
  type InstalledPackage,
  importRemedy,
  type Manifest,
  type PluginKind,
  pluginKinds,
  readManifest,
  resolveExport,
} from '@toolenv/core/plugins';
import { builtFiles, staleSource, undeclaredImports } from './built-files.ts';
import { expectNoLeaks } from './leaks.ts';
import { type CheckOptions, type Report, Reporter } from './report.ts';
import type { RuleId } from './rules.ts';
import { brief, thrownText, Violation } from './violation.ts';

type PackageFile = InstalledPackage['json'] & { keywords?: unknown };

interface Entry {
  kind: PluginKind;
  name: string;
  /** As written in the manifest. */
  subpath: string;
}

export interface CheckPluginOptions extends CheckOptions {
  /** Where the package was built, if `folder` is a copy of it. Default: `folder`. */
  builtIn?: string;
}

/**
 * Reads the package.json of a folder and imports each entry of its manifest. Opens no plugin.
 * @throws ToolEnvError `usage.not_a_package` if there is no package.json with name and version.
 */
export async function checkPlugin(
  folder: string,
  { builtIn = folder, ...options }: CheckPluginOptions = {},
): Promise<Report> {
  const installed = readPackage(folder);
  const { json } = installed;
  const report = new Reporter(`${json.name}@${json.version}`, 'PLUG', options);
  const manifest = await manifestOf(installed, report);
  await report.check(['PLUG-5'], () => {
    if (Array.isArray(json.keywords) && json.keywords.includes('toolenv-plugin')) return;
    const received = brief(json.keywords ?? 'no keywords');
    throw new Violation('PLUG-5', '"toolenv-plugin" among the keywords', received);
  });
  const entries = pluginKinds.flatMap((kind) =>
    Object.entries(manifest?.[kind] ?? {}).map(([name, subpath]): Entry => ({ kind, name, subpath })),
  );
  const rules: RuleId[] = ['PLUG-2', 'PLUG-3', 'PLUG-4', 'PLUG-6'];
  if (entries.length === 0) report.skip([...rules, 'PLUG-7'], 'no entry could be read');
  // Before the entries are imported: an old build may not even load.
  await report.check(['WARN-14'], () => checkBuild(entries, installed, resolve(builtIn)));
  for (const entry of entries) {
    await report.check(rules, async () => checkImport(entry, fileOf(entry, installed)));
    await report.check(['PLUG-7'], () => checkDependencies(entry, installed));
    await report.check(['WARN-13'], () => checkModuleType(entry, installed));
  }
  return report.report;
}

function readPackage(folder: string): InstalledPackage & { json: PackageFile } {
  const path = join(folder, 'package.json');
  try {
    const json: PackageFile = JSON.parse(readFileSync(path, 'utf8'));
    const { name, version } = Object(json) as Partial<PackageFile>;
    const lacks = lackOf(name, version);
    if (lacks) throw new ToolEnvError('usage.not_a_package', `${path} lacks ${lacks}`);
    return { name: String(name), folder: realpathSync(resolve(folder)), json };
  } catch (error) {
    if (ToolEnvError.isInstance(error)) throw error;
    const remedy = error instanceof SyntaxError ? 'correct its JSON' : 'name the folder of an npm package';
    const message = `${path} cannot be read (${messageOf(error)}): ${remedy}.`;
    throw new ToolEnvError('usage.not_a_package', message, { cause: error });
  }
}

/** What npm needs to pack a package. */
function lackOf(name: unknown, version: unknown): string | undefined {
  const [noName, noVersion] = [name, version].map((given) => typeof given !== 'string' || given === '');
  if (noName && noVersion) return 'a name and a version: add both.';
  if (noName) return 'a name: add one, such as "name": "my-env".';
  return noVersion ? 'a version, and npm packs nothing without one: add "version": "0.1.0".' : undefined;
}

async function manifestOf(installed: InstalledPackage, report: Reporter): Promise<Manifest | undefined> {
  let manifest: Manifest | undefined;
  await report.check(['PLUG-1'], () => {
    const outside = outsideEntry(installed.json.toolenv);
    if (outside) throw new Violation('PLUG-2', 'a subpath of the package', outside);
    try {
      manifest = readManifest(installed);
    } catch (error) {
      if (!ToolEnvError.isInstance(error)) throw error;
      throw new Violation('PLUG-1', 'a manifest that follows manifest.schema.json', error.message);
    }
    if (!manifest) throw new Violation('PLUG-1', 'a field "toolenv" in package.json', 'none');
  });
  return manifest;
}

/** The first entry that is not a path inside the package. */
function outsideEntry(manifest: unknown): string | undefined {
  const fields = Object.values((manifest ?? {}) as Record<string, unknown>);
  const paths = fields.flatMap((field) => (typeof field === 'object' && field ? Object.values(field) : []));
  const outside = paths.find((path) => typeof path === 'string' && /^\/|^[a-z]+:|\.\./i.test(path));
  return outside === undefined ? undefined : String(outside);
}

const unbuilt =
  'Build the package: npm run build. If the file is there, npm does not publish it: name its folder in "files" of package.json.';

/** The file of an entry. @throws Violation if the file is missing, not exported or outside the package. */
function fileOf({ subpath }: Entry, installed: InstalledPackage): string {
  const file = resolveExport(installed, subpath);
  const exported = Object(installed.json.exports) as Record<string, unknown>;
  if (!file) {
    const own = Object.keys(exported).find((path) =>
      JSON.stringify(exported[path])?.includes(`"${subpath}"`),
    );
    const hint = own && `Name the subpath, not the file: "${own}".`;
    throw new Violation('PLUG-3', `"${subpath}" in "exports"`, brief(installed.json.exports), hint);
  }
  const { types } = Object(exported[subpath]) as { types?: unknown };
  const needed = [file, ...(typeof types === 'string' ? [join(installed.folder, types)] : [])];
  const absent = needed.find((path) => !existsSync(path));
  if (absent) throw new Violation('PLUG-3', `the file of "${subpath}" to exist`, `no ${absent}`, unbuilt);
  const real = realpathSync(file);
  if (real.startsWith(installed.folder + sep)) return real;
  throw new Violation('PLUG-2', `the file of "${subpath}" in ${installed.folder}`, real);
}

async function checkImport({ kind, name, subpath }: Entry, file: string): Promise<void> {
  let module: { default?: unknown } = {};
  await expectNoLeaks('PLUG-6', `from importing "${subpath}"`, async () => {
    try {
      module = await import(pathToFileURL(file).href);
    } catch (error) {
      throw new Violation('PLUG-4', `"${subpath}" to be imported`, thrownText(error), importHint(error));
    }
  });
  const missing = missingParts(kind, module.default);
  const expected = `a default export of "${subpath}" that is ${parts[kind].what} "${name}"`;
  if (missing.length === 0) {
    const { name: own } = module.default as { name: string };
    if (kind !== 'envs' || own === name || own === name.replace(/-v\d+$/, '')) return;
    const hint = `Give both one name: name: '${name}' in the definition, or "${own}" in the manifest.`;
    throw new Violation('PLUG-4', expected, `the environment "${own}"`, hint);
  }
  const other = pluginKinds.find((of) => missingParts(of, module.default).length === 0);
  if (other)
    throw new Violation('PLUG-4', expected, parts[other].what, `List it under "${other}" of the manifest.`);
  // What compilers write where package.json does not say that its files are ES modules.
  if (Object(module.default).__esModule === true) {
    const hint =
      'Add "type": "module" to package.json, and "module": "nodenext" to tsconfig.json. Then build again.';
    throw new Violation('PLUG-4', expected, 'a file that was built as CommonJS', hint);
  }
  const isNone = module.default === undefined;
  const received = isNone ? 'no default export' : `a default export without ${missing.join(', ')}`;
  throw new Violation('PLUG-4', expected, received);
}

function importHint(error: unknown): string {
  const { code } = Object(error) as NodeJS.ErrnoException;
  if (code === 'ENOENT')
    return 'If the file is there, npm does not publish it: name it in "files" of package.json, and find it by new URL(…, import.meta.url).';
  const remedy = importRemedy(error);
  if (remedy?.includes('no such file'))
    return `${remedy} If the file is there, npm does not publish it: name it in "files" of package.json.`;
  if (remedy) return remedy;
  return ToolEnvError.isInstance(error) ? 'Do what it says.' : 'Correct what throws there.';
}

function checkDependencies({ subpath }: Entry, installed: InstalledPackage): void {
  const file = resolveExport(installed, subpath);
  const [undeclared] = file ? undeclaredImports(file, installed.json) : [];
  if (undeclared === undefined) return;
  const expected = `"${undeclared}" among the dependencies, because "${subpath}" imports it`;
  const declared = Object.keys(installed.json.dependencies ?? {}).join(', ') || 'no dependencies';
  const hint = `Add it to "dependencies" of package.json: npm install ${undeclared}`;
  throw new Violation('PLUG-7', expected, declared, hint);
}

/** Static imports and exports at the beginning of a statement, and what only CommonJS has. */
const moduleSyntax = /(?:^|;)[ \t]*(?:import|export)\b(?!\s*[(.])/m;
const commonJs = /\bmodule\.exports\b|\bexports\.\w+\s*=[^=]|\brequire\(/;

function isModule(text: string): boolean {
  return moduleSyntax.test(text) && !commonJs.test(text);
}

/** @throws Violation for a file of an entry that is an ES module although no package.json says so. */
function checkModuleType({ subpath }: Entry, installed: InstalledPackage): void {
  const file = resolveExport(installed, subpath);
  const files = file ? [...builtFiles(file).keys()] : [];
  const untyped = files.find(
    (each) =>
      extname(each) === '.js' &&
      typeOf(each, installed.folder) === undefined &&
      isModule(readFileSync(each, 'utf8')),
  );
  if (untyped === undefined) return;
  const received = `no "type", and import or export in ${relative(installed.folder, untyped)}`;
  throw new Violation('WARN-13', '"type": "module" in package.json', received);
}

/** `type` in the package.json that Node reads for a file. */
function typeOf(file: string, folder: string): unknown {
  for (let place = dirname(file); place.startsWith(folder); place = dirname(place)) {
    const path = join(place, 'package.json');
    if (existsSync(path)) return (JSON.parse(readFileSync(path, 'utf8')) as { type?: unknown }).type;
  }
  return undefined;
}

function checkBuild(entries: readonly Entry[], installed: InstalledPackage, builtIn: string): void {
  const built = entries.flatMap(({ subpath }) => {
    const file = resolveExport(installed, subpath);
    return file ? [relative(installed.folder, file)] : [];
  });
  const source = staleSource(built, builtIn);
  if (source === undefined) return;
  const hint = `Build the package: ${buildCommand(installed, builtIn)}. If the build is as the source says, skip WARN-14 (--skip WARN-14).`;
  throw new Violation(
    'WARN-14',
    'a build that is newer than its source',
    `${source} was changed later`,
    hint,
  );
}

function buildCommand({ json }: InstalledPackage, builtIn: string): string {
  const { scripts } = json as { scripts?: Record<string, unknown> };
  const script = ['build', 'prepack', 'prepare', 'prepublishOnly', 'compile'].find((name) => scripts?.[name]);
  if (script) return `npm run ${script}`;
  return existsSync(join(builtIn, 'tsconfig.json')) ? 'npx tsc' : 'run your compiler';
}

/** What each kind of plugin is called, and the objects and the function that it has besides its name and description. */
const parts: Readonly<Record<PluginKind, { what: string; objects: readonly string[]; method: string }>> = {
  envs: { what: 'the environment', objects: ['options', 'rewards', 'limits', 'roles'], method: 'open' },
  tools: { what: 'the tool', objects: ['example'], method: 'create' },
  sandboxes: { what: 'the sandbox provider', objects: ['options'], method: 'inspect' },
  trainers: { what: 'the trainer', objects: ['options'], method: 'train' },
  losses: { what: 'the loss', objects: ['options'], method: 'episode' },
  advantages: { what: 'the advantage estimator', objects: ['options'], method: 'estimate' },
  scorers: { what: 'the scorer', objects: ['options', 'example'], method: 'begin' },
  policies: { what: 'the policy', objects: ['options'], method: 'open' },
};

function missingParts(kind: PluginKind, plugin: unknown): string[] {
  const given = (plugin ?? {}) as Record<string, unknown>;
  const { objects, method } = parts[kind];
  return [
    ...['name', 'description'].filter((part) => typeof given[part] !== 'string'),
    ...objects.filter((part) => typeof given[part] !== 'object' || given[part] === null),
    ...[method].filter((part) => typeof given[part] !== 'function'),
  ];
}
