/** Session: a client's stay on a Tinker server, which unloads the models of a session without a heartbeat. */
import { ToolEnvError } from '@toolenv/core';
import type { Connection } from './connection.ts';

/** Milliseconds. SkyRL takes a session for dead after 300 s. */
const beat = 10_000;

export class Session {
  readonly connection: Connection;
  readonly id: string;
  /** The base model, as the server names it. */
  readonly baseModel: string;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(connection: Connection, id: string, baseModel: string) {
    this.connection = connection;
    this.id = id;
    this.baseModel = baseModel;
    this.#heartbeat = setInterval(() => this.#beat(), beat);
    this.#heartbeat.unref();
  }

  /**
   * @param wanted The base model. The server does not check it when it creates a model. Default: the server's only model.
   * @throws ToolEnvError `usage.tinker_model` if the server does not have it, and as {@link Connection.ask} does.
   */
  static async open(connection: Connection, wanted: string | undefined): Promise<Session> {
    const { supported_models: listed } = await connection.ask('get_server_capabilities');
    const names = (Array.isArray(listed) ? listed : []).map((each) => String(Object(each).model_name));
    const baseModel = wanted ?? (names.length === 1 ? names[0] : undefined);
    if (baseModel === undefined || !names.includes(baseModel)) {
      const lacks = wanted === undefined ? `has ${names.length} models` : `has no model "${wanted}"`;
      const message = `${connection.url} ${lacks}. It has ${names.slice(0, 8).join(', ') || 'none'}: write tinker:<url>#<base model>.`;
      throw new ToolEnvError('usage.tinker_model', message);
    }
    const body = { tags: ['toolenv'], sdk_version: 'toolenv' };
    const { session_id: id } = await connection.ask('create_session', body);
    return new Session(connection, String(id), baseModel);
  }

  close(): void {
    clearInterval(this.#heartbeat);
  }

  /** The next request notices a server that is gone. */
  #beat(): void {
    this.connection.ask('session_heartbeat', { session_id: this.id }, { retries: 0 }).catch(() => {});
  }
}
