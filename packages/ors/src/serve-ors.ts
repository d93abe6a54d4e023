/** serveOrs: serves an environment to clients of the Open Reward Standard: ors-sdk and openreward. */
import { randomUUID } from 'node:crypto';
import {
  completeServeOptions,
  type EnvService,
  HttpAccess,
  isProbe,
  listenGuarded,
  OpenSessions,
  placesFor,
  type ServedEnv,
  type ServeEnvOptions,
  type SessionOptions,
  servedName,
  writeToStderr,
} from '@toolenv/serving';
import { answerOrs } from './ors-routes.ts';
import { ServedSession } from './served-session.ts';
import { ServedTasks } from './served-tasks.ts';

/** `split`: only these tasks. Default: the tasks of all splits. */
export type ServeOrsOptions = ServeEnvOptions;

export interface OrsService extends EnvService {
  /** Name of the environment. */
  readonly environment: string;
}

/**
 * Serves an environment. Does not close it: close it yourself after {@link EnvService.close}.
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
    isOpen: isProbe,
    answer: (request, response) => answerOrs(request, response, routes),
    onError,
  });
  return {
    url: listener.origin,
    environment: name,
    closed: listener.closed,
    drain: (milliseconds) => sessions.drain(milliseconds),
    async close() {
      await sessions.close();
      await listener.close();
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
