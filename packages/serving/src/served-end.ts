/** servedEnd: why the episode of a server has ended, as the metadata of its last step says. */
import { excerpt, ToolEnvError } from '@toolenv/core';
import { isObject } from '@toolenv/core/schemas';

/**
 * The reason in a word; `otherwise` if the server gives none.
 * @throws ToolEnvError `infrastructure.served_episode` if the server did not score its episode: a fault there is a fault here.
 */
export function servedEnd(metadata: unknown, otherwise: string): string {
  const { outcome } = Object(metadata) as { outcome?: unknown };
  if (!isObject(outcome)) return otherwise;
  const { kind, reason, cause } = outcome;
  if (kind === 'aborted' || kind === 'cancelled') {
    const { code, message } = Object(cause) as Record<string, unknown>;
    const said = [code, message].filter((part) => typeof part === 'string').join(': ');
    throw new ToolEnvError(
      'infrastructure.served_episode',
      `The server ${kind === 'aborted' ? 'aborted' : 'cancelled'} its episode, and does not score it${said && ` (${excerpt(said, 300)})`}.`,
    );
  }
  return typeof reason === 'string' && /^[\w.-]{1,64}$/.test(reason) ? reason : otherwise;
}
