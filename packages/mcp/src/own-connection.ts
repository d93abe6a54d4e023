/** OwnConnection: a connection over a client that this package opens, to a server process or over Streamable HTTP. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { ToolEnvError } from '@toolenv/core';
import { Deadline } from '@toolenv/core/tools';
import { isClosed } from './client-error.ts';
import { HttpTransport } from './http-transport.ts';
import { implementation } from './implementation.ts';
import type { McpRequestOptions, McpToolDefinition } from './mcp-client.ts';
import { Connection, type McpOptions, noTimeout } from './mcp-connection.ts';
import type { McpEndpoint } from './mcp-server.ts';
import type { McpTool } from './mcp-tool.ts';
import { ServerProcess } from './server-process.ts';

/** Milliseconds that a server has to exit. */
const defaultGrace = 2_000;

/** Accepts everything: tools validate results themselves, since the SDK's validator does not support JSON Schema 2020-12. */
const trusting: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

export class OwnConnection extends Connection<Client> {
  readonly #transport: ServerProcess | HttpTransport;
  #closing: Promise<void> | undefined;
  #pinging: Promise<void> | undefined;

  constructor(server: McpEndpoint, name: string, options: McpOptions) {
    super(new Client(implementation, { jsonSchemaValidator: trusting }), name, options);
    this.#transport =
      'command' in server
        ? new ServerProcess(server, options.closeGrace ?? defaultGrace)
        : new HttpTransport(server);
  }

  override get pid(): number | undefined {
    return this.#transport instanceof ServerProcess ? this.#transport.pid : undefined;
  }

  override async open(signal: AbortSignal): Promise<void> {
    this.client.onclose = () => {
      this.lost ??= this.closedError(this.#serverEnd ?? 'the connection was closed');
    };
    await this.client.connect(this.#transport, { signal, timeout: noTimeout });
    this.client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.#listChanged());
    await super.open(signal);
    // Only onerror reports a broken stream of Streamable HTTP. Calls on it would wait for ever.
    if (!(this.#transport instanceof ServerProcess)) this.client.onerror = () => this.suspect();
  }

  override close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  override async abandon(): Promise<void> {
    if (this.#transport instanceof ServerProcess) await this.#transport.kill();
    await this.close();
  }

  /** If the connection broke, the cause is the end of the server. After any other error, closing may have ended the server. */
  override why(error: unknown): string {
    return (isClosed(error) ? this.#serverEnd : undefined) ?? super.why(error);
  }

  get #serverEnd(): string | undefined {
    return this.#transport instanceof ServerProcess ? this.#transport.end : undefined;
  }

  protected override async listAll(request: McpRequestOptions): Promise<McpToolDefinition[]> {
    return this.client.getServerCapabilities()?.tools ? super.listAll(request) : [];
  }

  /** Pings the server, and closes the connection if there is no answer. */
  protected override suspect(): Promise<void> {
    if (this.lost) return Promise.resolve();
    this.#pinging ??= this.#ping().finally(() => {
      this.#pinging = undefined;
    });
    return this.#pinging;
  }

  async #ping(): Promise<void> {
    try {
      await this.client.ping({ timeout: this.options.pingTimeout ?? 5_000 });
    } catch (error) {
      this.lost ??= this.closedError(`it does not answer a ping (${this.why(error)})`);
      this.close().catch(() => {});
    }
  }

  async #listChanged(): Promise<void> {
    let tools: readonly McpTool[];
    try {
      tools = await this.refresh();
    } catch (error) {
      // The tools listed before are out of date.
      this.lost ??= ToolEnvError.isInstance(error)
        ? error
        : this.closedError(`its changed tools cannot be listed (${this.why(error)})`);
      return this.close();
    }
    this.options.onToolsChanged?.(tools);
  }

  async #close(): Promise<void> {
    await super.close();
    const transport = this.#transport;
    if (transport instanceof HttpTransport) {
      // Ignore errors: if the server has ended, so has the session.
      const grace = new Deadline({ after: this.options.closeGrace ?? defaultGrace, reason: () => undefined });
      await grace.race(() => transport.terminateSession()).catch(() => {});
      grace.clear();
    }
    await transport.close();
  }
}
