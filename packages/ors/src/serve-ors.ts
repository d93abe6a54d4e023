/** serveOrs: serves an environment to clients of the Open Reward Standard: ors-sdk and openreward. */
import { randomUUID } from 'node:crypto';
import {
  completeServeOptions,
  type EpisodeOptions,
  HttpAccess,
  listenGuarded,
  OpenSessions,
  placesFor,
  requestUrl,
  type ServedEnv,
  type ServeOptions,
  type SessionOptions,
  servedName,
  writeToStderr,
} from '@toolenv/serving';
import { answerOrs, probePaths } from './ors-routes.ts';
import { ServedSession } from './served-session.ts';
import { ServedTasks } from './served-tasks.ts';

/** `split`: only these tasks. Default: the tasks of all splits. */
export interface ServeOrsOptions extends ServeOptions, EpisodeOptions {
  /**
   * Called with the causes of aborted episodes, of which the client learns only the code, and with errors that are bugs. Default:
   * write to stderr.
   */
  onError?(error: unknown): void;
}

export interface OrsService {
  /** The base URL that clients are given: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Name of the environment. */
  readonly environment: string;
  /** Settles after {@link close}. */
  readonly closed: Promise<void>;
  /** Refuses new sessions, and answers 503 to `/health`. Resolves when no session is open, or after this many milliseconds. */
  drain(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves an environment. Does not close it: close it yourself after {@link OrsService.close}.
 *
 * A session plays one episode. A call of a tool is a turn, and the tool `submit` gives the answer. The model's mistakes are results. An
 * infrastructure fault is an `error` event, and its episode has no reward.
 * @throws ToolEnvError `usage.serve_no_tasks`, `usage.serve_self_play`, `usage.serve_token`, `usage.serve_host`, `usage.serve_port`, `usage.bad_option`,
 *   `usage.unknown_option`.
 */
export async function serveOrs<Task>(
  env: ServedEnv<Task>,
  { onError = writeToStderr, split, seed, ...given }: ServeOrsOptions = {},
): Promise<OrsService> {
  const options = completeServeOptions(placesFor(env, given), 'serveOrs');
  const tasks = await ServedTasks.of(env, split);
  const whole = await servedName(env, { split: split ?? tasks.splits[0], onError });
  // A part of paths.
  const name = whole.slice(whole.lastIndexOf('/') + 1).toLowerCase();
  const make = (
    own: SessionOptions & { task: number },
    hooks: ConstructorParameters<typeof ServedSession>[2],
  ) => new ServedSession(env, own, hooks);
  const sessions = new OpenSessions({ ...options, seed }, onError, make);
  let shared: Promise<object> | undefined;
  const sharedTools = () => {
    shared ??= toolsOfFirst(sessions, tasks);
    // The next request may find a place.
    shared.catch(() => {
      shared = undefined;
    });
    return shared;
  };
  const routes = {
    name,
    tasks,
    sessions,
    sharedTools,
    maxBodyBytes: options.maxBodyBytes,
    newId: randomUUID,
  };
  const listener = await listenGuarded(options, {
    access: new HttpAccess(options),
    // Health and counts are not secret: probes have no token.
    isOpen: (request) => request.method === 'GET' && probePaths.includes(requestUrl(request).pathname),
    answer: (request, response) => answerOrs(request, response, routes),
    onError,
  });
  let settle = () => {};
  const closed = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return {
    url: listener.origin,
    environment: name,
    closed,
    drain: (milliseconds) => sessions.drain(milliseconds),
    async close() {
      await sessions.close();
      await listener.close();
      settle();
    },
  };
}

/** Which tools there are, only an episode knows. */
async function toolsOfFirst(
  sessions: OpenSessions<ServedSession, { task: number }>,
  tasks: ServedTasks,
): Promise<object> {
  const session = sessions.open({ split: tasks.splits[0]!, task: 0 });
  try {
    return await session.tools();
  } finally {
    await session.close();
  }
}
