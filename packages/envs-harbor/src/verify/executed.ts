/** What a verifier would execute or be led by: none of it is taken from the agent, unless the task declares it as an artifact. */
import { posix } from 'node:path';
import type { Container } from '@toolenv/sandbox/container';
import type { VerifierSpec } from '../task/harbor-task.ts';
import { isWithin } from '../task/read-verifier.ts';

/** The machine's programs, libraries and settings; the verifier's own folders; what is no disk. */
const system = [
  ...['/bin', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/nix', '/sbin', '/snap', '/usr'],
  ...['/tests', '/logs/verifier', '/dev', '/proc', '/run', '/sys', '/var/run'],
];

/** What test runners and interpreters look for in the folders above /tests. */
const aboveTests = [
  ...[
    'conftest.py',
    'pyproject.toml',
    'pytest.ini',
    '.pytest.ini',
    'pytest.toml',
    '.pytest.toml',
    'setup.cfg',
  ],
  ...[
    'setup.py',
    'tox.ini',
    'node_modules',
    'package.json',
    '.npmrc',
    'uv.toml',
    '.python-version',
    'Makefile',
  ],
];

/** What uv takes its Python and its packages from, in the working folder or above it. */
const aboveWork = ['uv.toml', '.python-version'];

/** Modules that Python imports by itself, which need not be there. */
const unasked = ['sitecustomize', 'usercustomize'];

/** Installed packages, as Python finds them by name in a folder of modules: they name plugins that test runners import. */
const installed = /\.(dist-info|egg-info|egg|egg-link)$/;

/** Variables that name folders of programs and libraries, and the one that names folders of Python modules. */
const programVariables = ['PATH', 'LD_LIBRARY_PATH', 'PERL5LIB', 'RUBYLIB', 'NODE_PATH', 'CLASSPATH'];
const moduleVariable = 'PYTHONPATH';

/**
 * Prints the variables, each followed by a NUL, and then the names of Python's modules: a module of this name in the working folder goes
 * before Python's own, as with `python -m pytest`.
 */
const script = `printf '%s\\0' "$HOME" ${[...programVariables, moduleVariable].map((name) => `"$${name}"`).join(' ')}
for python in python3 python; do
  command -v $python > /dev/null && $python -I -c 'import pkgutil, sys
print(*sys.builtin_module_names, *getattr(sys, "stdlib_module_names", ()), *(each.name for each in pkgutil.iter_modules()), sep="\\n")' && break
done
true`;

/** Milliseconds of the script. */
const scriptTime = 60_000;

/** What an image and a verifier add to what is executed everywhere. */
export interface ExecutedParts {
  /** Whatever is in them. */
  folders: readonly string[];
  /** Folder of the user. What begins with a dot there is settings. */
  home: string;
  /** Folder in which the tests begin. */
  workdir: string;
  /** Folders in which a Python module would be found before that of the same name in `modules`. */
  moduleFolders: readonly string[];
  /** Names such as `json`, of `json.py` and the folder `json`. */
  modules: ReadonlySet<string>;
}

export class Executed {
  readonly #folders: readonly string[];
  readonly #home: string;
  readonly #moduleFolders: readonly string[];
  readonly #modules: ReadonlySet<string>;

  constructor({ folders, home, workdir, moduleFolders, modules }: ExecutedParts) {
    this.#folders = [
      ...system,
      ...aboveTests.map((name) => `/${name}`),
      ...withParents(workdir).flatMap((each) => aboveWork.map((name) => posix.join(each, name))),
      ...folders,
    ];
    this.#home = home;
    this.#moduleFolders = moduleFolders;
    this.#modules = modules;
  }

  /** Whether the verifier would execute what is at an absolute path, or follow it. */
  has(path: string): boolean {
    // Whoever may write in /logs could put another folder in the place of that of the verdict.
    if (path === '/logs' || this.#folders.some((folder) => isWithin(path, folder))) return true;
    if (childOf(path, '/root').startsWith('.') || childOf(path, this.#home).startsWith('.')) return true;
    return this.#moduleFolders.some((folder) => {
      const child = childOf(path, folder);
      const module = child.split('.')[0]!;
      return this.#modules.has(module) || unasked.includes(module) || installed.test(child);
    });
  }
}

/** Asks a verifier's container, in which nothing of the agent is yet. @throws If the container fails. */
export async function executedIn(
  { container, folder }: { container: Container; folder: string },
  { user, env }: VerifierSpec,
): Promise<Executed> {
  const options = { timeout: scriptTime, output: 2 ** 20, user, env };
  const { stdout, exitCode, gone } = await container.exec(script, options);
  if (gone || exitCode !== 0) throw new Error(`its programs cannot be listed: code ${exitCode}`);
  const [home = '', ...values] = new TextDecoder().decode(stdout).split('\0');
  const foldersIn = (value = '') =>
    value === '' ? [] : value.split(':').map((each) => posix.resolve(folder, each));
  return new Executed({
    home: home || '/',
    workdir: folder,
    folders: programVariables.flatMap((_, index) => foldersIn(values[index]).flatMap(withLibraries)),
    moduleFolders: [folder, ...foldersIn(values[programVariables.length])],
    modules: new Set((values.at(-1) ?? '').split('\n').filter((name) => name !== '')),
  });
}

/** `/opt/venv/bin` → itself, and the libraries and settings beside it. */
function withLibraries(folder: string): string[] {
  if (!/^s?bin$/.test(posix.basename(folder))) return [folder];
  const above = posix.dirname(folder);
  return [
    folder,
    ...['lib', 'lib64', 'libexec', 'pyvenv.cfg', 'share'].map((name) => posix.join(above, name)),
  ];
}

/** A folder, and those that it is in. */
function withParents(folder: string): string[] {
  const above = posix.dirname(folder);
  return above === folder ? [folder] : [folder, ...withParents(above)];
}

/** The name below a folder by which a path leads on; empty if it does not. */
function childOf(path: string, folder: string): string {
  const prefix = folder === '/' ? '/' : `${folder}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length).split('/')[0]! : '';
}
