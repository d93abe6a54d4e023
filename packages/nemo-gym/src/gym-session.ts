/** GymSession: an episode on a resources server of NeMo Gym, which knows it by a cookie. */
import { asClause, excerpt, messageOf, ToolEnvError } from '@toolenv/core';
import { isObject, tryJson } from '@toolenv/core/schemas';
import { Deadline } from '@toolenv/core/tools';
import { boundedFetch } from '@toolenv/serving/client';

/** An answer of the server. */
interface Answer {
  status: number;
  text: string;
}

/** Statuses of proxies and of servers that are down. Of 500 a server gives each error of its code, which the model may have led to. */
const awayStatuses = [502, 503, 504];

export class GymSession {
  readonly #url: string;
  /** Milliseconds for an answer, if no tool's limit comes first. */
  readonly #timeout: number;
  readonly #cookies = new Map<string, string>();

  private constructor(url: string, timeout: number) {
    this.#url = url;
    this.#timeout = timeout;
  }

  /**
   * Begins an episode for a row.
   * @throws ToolEnvError `infrastructure.nemo_gym` if the server is away or refuses the row; `usage.nemo_gym` if it is no resources server.
   */
  static async begin(
    url: string,
    row: object,
    { hasTools, timeout, signal }: { hasTools: boolean; timeout: number; signal: AbortSignal },
  ): Promise<GymSession> {
    const session = new GymSession(url, timeout);
    const { status, text } = await session.#post('seed_session', row, signal);
    if (status === 404 || status === 405) {
      const message = `${url} is no resources server of NeMo Gym: it has no /seed_session. Give the URL of the server that \`gym env status\` names as a resources server.`;
      throw new ToolEnvError('usage.nemo_gym', message);
    }
    if (status >= 400)
      throw session.#fault('seed_session', `answers with status ${status}: ${excerpt(text, 300)}`);
    const { mcp } = Object(tryJson(text)) as { mcp?: unknown };
    if (isObject(mcp) && !hasTools) {
      const message = `${url} offers its tools over MCP only, and the row has none: give rows with tools in responses_create_params.`;
      throw new ToolEnvError('usage.nemo_gym', message);
    }
    return session;
  }

  /** The answer of a tool, whatever its status: the model reads the same text as with NeMo Gym's own agent. */
  async call(name: string, args: object, signal: AbortSignal): Promise<string> {
    return (await this.#post(name, args, signal)).text;
  }

  /** What the server says of the episode: `reward` and more. @throws ToolEnvError `infrastructure.nemo_gym` if it does not verify it. */
  async verify(
    body: object,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>> & { reward: number }> {
    const { status, text } = await this.#post('verify', body, signal);
    if (status >= 400) throw this.#fault('verify', `answers with status ${status}: ${excerpt(text, 300)}`);
    const answer = tryJson(text);
    if (!isObject(answer) || typeof answer.reward !== 'number' || !Number.isFinite(answer.reward))
      throw this.#fault('verify', `gives no reward: ${excerpt(text, 300)}`);
    return answer as { reward: number };
  }

  async #post(path: string, body: object, signal: AbortSignal): Promise<Answer> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { 'content-type': 'application/json', ...(cookie !== '' && { cookie }) };
    const reason = () => new Error(`no answer within ${this.#timeout / 1000} s, the option verifyTimeout`);
    const deadline = new Deadline({ after: this.#timeout, parent: signal, reason });
    try {
      const response = await boundedFetch(`${this.#url}/${encodeURIComponent(path)}`, {
        ...{ method: 'POST', headers, body: JSON.stringify(body), signal: deadline.signal },
        // A cookie must reach no other server.
        redirect: 'error',
      });
      for (const set of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=;]+)=([^;]*)/.exec(set) ?? [];
        if (name !== undefined) this.#cookies.set(name.trim(), value!);
      }
      const text = await response.text();
      if (awayStatuses.includes(response.status)) throw new Error(`status ${response.status}`);
      return { status: response.status, text };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.#fault(path, `failed: ${asClause(causeOf(error))}: look at the server's log`);
    } finally {
      deadline.clear();
    }
  }

  #fault(path: string, what: string): ToolEnvError {
    return new ToolEnvError('infrastructure.nemo_gym', `${this.#url}/${path} ${what}`);
  }
}

/** fetch hides why behind "fetch failed". */
function causeOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  return messageOf(cause ?? error);
}
