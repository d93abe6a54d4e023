/** OpenEnvSessions: the open sessions of OpenEnv's clients, with WebSockets or without. */
import {
  CapacityError,
  type CompleteServeOptions,
  type EpisodeOptions,
  OpenSessions,
  type ServedEnv,
} from '@toolenv/serving';
import { FrameError } from './frame.ts';
import { OpenEnvSession } from './openenv-session.ts';

export class OpenEnvSessions extends OpenSessions<OpenEnvSession> {
  constructor(
    env: ServedEnv<unknown>,
    options: CompleteServeOptions & EpisodeOptions,
    onError: (error: unknown) => void,
  ) {
    super(options, onError, (own, hooks) => new OpenEnvSession(env, own, hooks));
  }

  /** @throws FrameError CAPACITY_REACHED */
  override open(): OpenEnvSession {
    try {
      return super.open({});
    } catch (error) {
      if (!(error instanceof CapacityError)) throw error;
      const { open, most } = error.places;
      const details = { active_sessions: open, max_sessions: most };
      throw new FrameError('CAPACITY_REACHED', error.message, details);
    }
  }

  /** The session of a new WebSocket: its own, or one that was created over HTTP. */
  attach(id: string | null): OpenEnvSession {
    const session = id === null ? this.open() : this.find(id);
    if (!session || session.isAttached) {
      const message = session ? 'The session has a WebSocket already.' : 'There is no such session.';
      throw new FrameError('SESSION_ERROR', message);
    }
    session.isAttached = true;
    return session;
  }
}
