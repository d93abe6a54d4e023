/** serveView: a web page over runs, which follows them while they train. */
import { type ReportOptions, reportOfRuns } from '../report/make-report.ts';
import { readReportParts } from '../report/report-html.ts';
import { type ServedPage, servePage } from '../serve-page.ts';
import { type Routes, routesOf } from './routes.ts';
import { ViewedRuns } from './viewed-runs.ts';

export interface ViewOptions extends Omit<ReportOptions, 'start'> {
  /** 0 for any free port. Default 0. */
  port?: number;
}

/**
 * Serves the page on loopback only, because runs may hold what others should not read.
 * @throws ToolEnvError `usage.no_run` if a path is not a run, `usage.serve_port` if the port cannot be opened.
 */
export async function serveView(options: ViewOptions): Promise<ServedPage> {
  const { runs: paths, port = 0, tokenTexts, environment } = options;
  const runs = new ViewedRuns(paths);
  const get: Routes = routesOf(runs, {
    tokenTexts: remembered(async (path) => (await tokenTexts?.(path)) ?? {}),
    environment: remembered(async (ref) => environment?.(ref)),
    async report(chosen, start) {
      await Promise.all(chosen.map((run) => run.update()));
      return reportOfRuns(chosen, { episode: get['/api/episode'], start }, await readReportParts());
    },
  });
  try {
    const served = await servePage({
      page: 'index.html',
      port,
      get,
      post: {
        async '/api/notes'(body) {
          const { run, notes } = Object(body);
          await runs.find(typeof run === 'string' ? run : null).writeNotes(notes);
          return {};
        },
      },
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
