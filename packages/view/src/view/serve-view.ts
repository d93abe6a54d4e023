/** serveView: a web page over runs, which follows them while they train. */
import { type ServedPage, servePage } from '../serve-page.ts';
import { type KnownEnv, routesOf } from './routes.ts';
import type { TokenTexts } from './token-texts.ts';
import { ViewedRuns } from './viewed-runs.ts';

export interface ViewOptions {
  /** Folders that train or eval wrote, or files of trajectories. */
  runs: readonly string[];
  /** 0 for any free port. Default 0. */
  port?: number;
  /** Finds what gives the tokens of a run their texts. Without it, tokens are shown as ids. */
  tokenTexts?: (path: string) => Promise<TokenTexts>;
  /** Finds the environment with a reference, which knows the right answers. */
  environment?: (ref: string) => Promise<KnownEnv | undefined>;
}

/**
 * Serves the page on loopback only, because runs may hold what others should not read.
 * @throws ToolEnvError `usage.no_run` if a path is not a run, `usage.serve_port` if the port cannot be opened.
 */
export async function serveView(options: ViewOptions): Promise<ServedPage> {
  const { runs: paths, port = 0, tokenTexts, environment } = options;
  const runs = new ViewedRuns(paths);
  const get = routesOf(runs, {
    tokenTexts: remembered(async (path) => (await tokenTexts?.(path)) ?? {}),
    environment: remembered(async (ref) => environment?.(ref)),
  });
  try {
    const served = await servePage({
      page: 'index.html',
      port,
      get,
      follow: (listener) => runs.follow(listener),
    });
    return {
      url: served.url,
      async close() {
        await served.close();
        await runs.close();
      },
    };
  } catch (error) {
    await runs.close();
    throw error;
  }
}

/** Calls `make` once for each key. */
function remembered<Value>(make: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const made = new Map<string, Promise<Value>>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}
