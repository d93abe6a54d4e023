/** servePlay: a web page in which a person plays the policy's part. */
import { type RewardSpec, ToolEnvError, type Trajectory } from '@toolenv/core';
import { appendTrajectory } from '@toolenv/core/recording';
import { validate } from '@toolenv/core/schemas';
import { type ServedPage, servePage } from '../serve-page.ts';
import type { WrittenTurn } from './play-by-hand.ts';
import { PlaySession, type PlayState, type SessionOptions } from './play-session.ts';

export interface PlayOptions<Task>
  extends Pick<SessionOptions<Task>, 'env' | 'task' | 'seed' | 'replayed' | 'oracle'> {
  /** JSONL file to which finished episodes are appended. */
  out?: string;
  /** 0 for any free port. Default 0. */
  port?: number;
}

/** What the page shows. */
export type PlayAnswer = PlayState & {
  rewardSpec: RewardSpec;
  /** Finished episodes that were written. */
  kept: number;
  out?: string;
};

const turnSchema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    calls: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, arguments: { type: 'object' } },
        required: ['name', 'arguments'],
        additionalProperties: false,
      },
    },
  },
  required: ['text', 'calls'],
  additionalProperties: false,
} as const;

/**
 * Serves the page on loopback only.
 * @throws ToolEnvError `usage.serve_port` if the port cannot be opened.
 */
export async function servePlay<Task>(options: PlayOptions<Task>): Promise<ServedPage> {
  const { out, port = 0, ...episodes } = options;
  const { env } = episodes;
  const end = new AbortController();
  let kept = 0;
  const keep = async (trajectory: Trajectory) => {
    if (out === undefined) return;
    await appendTrajectory(out, trajectory);
    kept += 1;
  };
  const { rewards: rewardSpec } = env.episode().spec;
  const session = new PlaySession({ ...episodes, keep, signal: end.signal });
  const state = async (): Promise<PlayAnswer> => ({ ...session.state, rewardSpec, kept, out });
  const served = await servePage({
    page: 'play.html',
    port,
    get: { '/api/play': state },
    post: {
      async '/api/turn'(body) {
        session.write(readTurn(body));
        return {};
      },
      async '/api/next'() {
        session.next();
        return {};
      },
    },
    follow(listener) {
      let count = 0;
      const tell = () => listener(String(count++));
      tell();
      return session.follow(tell);
    },
  });
  return {
    url: served.url,
    async close() {
      end.abort(new Error('The page was closed.'));
      await served.close();
    },
  };
}

/** @throws ToolEnvError `usage.turn`. */
function readTurn(body: unknown): WrittenTurn {
  const [wrong] = validate(turnSchema, body);
  if (!wrong) return body as WrittenTurn;
  const message = `A turn is {text, calls}: ${wrong.path}: expected ${wrong.expected}; received ${wrong.received}.`;
  throw new ToolEnvError('usage.turn', message);
}
