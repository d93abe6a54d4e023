/** The machine of a stranger: a folder outside the repository, and npm without any configuration but a registry. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Milliseconds. The slowest command follows a whole page, with its training. */
const timeout = 600_000;

/**
 * What npm would inherit. `npm run` passes the configuration of the repository and of the user to its scripts as `npm_config_…`.
 * `ONNXRUNTIME_NODE_INSTALL` would skip the download that the installs must avoid by themselves.
 */
const inherited = /^(npm_|YARN_|ONNXRUNTIME_NODE_INSTALL)/i;

export interface Sandbox {
  /** An empty folder at first. */
  folder: string;
  /** Where npm and Yarn look for packages from now on. */
  useRegistry(url: string): void;
  /** What a command printed to stdout. Rejects with everything that it printed if it fails. */
  run(command: string, args: readonly string[], cwd: string): Promise<string>;
  /** What a command printed to stdout and stderr. Rejects like `run`. */
  runAll(command: string, args: readonly string[], cwd: string): Promise<string>;
  remove(): Promise<void>;
}

export async function openSandbox(): Promise<Sandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-packed-'));
  const userconfig = join(folder, 'npmrc');
  await writeFile(userconfig, '');
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !inherited.test(name))),
    npm_config_audit: 'false',
    npm_config_cache: join(folder, 'cache'),
    npm_config_fund: 'false',
    // What one install has asked of the registry, the next ones take from the cache.
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
    npm_config_userconfig: userconfig,
    YARN_GLOBAL_FOLDER: join(folder, 'yarn-global'),
    YARN_ENABLE_TELEMETRY: 'false',
    // Yarn holds back what was published today.
    YARN_NPM_MINIMAL_AGE_GATE: '0',
    YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
  };

  function execute(command: string, args: readonly string[], cwd: string): Promise<[string, string]> {
    return new Promise((resolve, reject) => {
      const options = { cwd, env, maxBuffer: 1 << 26, timeout };
      const child = execFile(command, args, options, (error, stdout, stderr) => {
        if (!error) resolve([stdout, stderr]);
        else reject(new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`));
      });
      child.stdin?.end();
    });
  }

  return {
    folder,
    useRegistry(url) {
      env.npm_config_registry = url;
      env.YARN_NPM_REGISTRY_SERVER = url;
    },
    async run(...command) {
      const [stdout] = await execute(...command);
      return stdout;
    },
    async runAll(...command) {
      return (await execute(...command)).join('');
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
