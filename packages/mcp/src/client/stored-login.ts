/** StoredLogin: what `toolenv mcp login` keeps for one server: its client and tokens, in a file that only the user can read. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { ToolEnvError } from '@toolenv/core';
import { withDiskErrors } from '@toolenv/core/files';
import { toUrl } from './mcp-server.ts';

interface Kept {
  url: string;
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens;
}

/** How a user logs in. */
export interface McpLogin {
  /** Of a client that is registered already. Default: a new client is registered. */
  clientId?: string;
  clientSecret?: string;
  /** The only authorization server that gets anything. Default: the one that the MCP server names. */
  expectedIssuer?: string;
  /** Called with the address at which the user agrees. */
  ask(address: URL): void;
  /** Scopes, separated by spaces. Default: what the server asks for. */
  scope?: string;
  /** Port for the answer of the browser on this machine, 0 (default) for any. */
  port?: number;
  signal?: AbortSignal;
}

/** How a login is made. Later connections, which ask nobody, use what it keeps. */
interface LoginOptions extends Partial<Omit<McpLogin, 'scope' | 'port' | 'signal'>> {
  /** Where the authorization server sends the user's browser back to. */
  redirectUrl?: string;
  state?: string;
}

export class StoredLogin implements OAuthClientProvider {
  readonly #file: string;
  readonly #options: LoginOptions;
  readonly #kept: Kept;
  #verifier = '';
  #discovered: OAuthDiscoveryState | undefined;

  /** The login for a server; `undefined` if the user has not logged in. */
  static of(url: string | URL): StoredLogin | undefined {
    const login = new StoredLogin(url);
    return login.#kept.tokens && login;
  }

  /** @param url Of the MCP server. Tokens are sent to this URL only. */
  constructor(url: string | URL, options: LoginOptions = {}) {
    const { href } = toUrl(url);
    this.#file = join(loginFolder(), `${createHash('sha256').update(href).digest('hex')}.json`);
    this.#options = options;
    this.#kept = read(this.#file) ?? { url: href };
  }

  get redirectUrl(): string | undefined {
    return this.#options.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { redirectUrl } = this.#options;
    return {
      client_name: 'toolenv',
      redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: this.#options.clientSecret === undefined ? 'none' : 'client_secret_post',
      application_type: 'native',
    };
  }

  state(): string {
    return this.#options.state ?? '';
  }

  /** @throws ToolEnvError `usage.mcp_authorization` for another authorization server than the expected one. */
  clientInformation(context?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    const { clientId, clientSecret, expectedIssuer } = this.#options;
    if (
      expectedIssuer !== undefined &&
      context?.issuer !== undefined &&
      !isSame(expectedIssuer, context.issuer)
    ) {
      const message = `The server names the authorization server ${context.issuer}, and ${expectedIssuer} is expected: nothing was sent to it.`;
      throw new ToolEnvError('usage.mcp_authorization', message);
    }
    if (clientId === undefined) return this.#kept.client;
    return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  }

  saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    return this.#keep({ client });
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#kept.tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    const client = this.clientInformation();
    await this.#keep({ tokens, ...(client && { client }) });
  }

  /** Outside a login, nobody is asked: the SDK then reports that the request was not authorized. */
  redirectToAuthorization(address: URL): void {
    this.#options.ask?.(address);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }

  async invalidateCredentials(scope: string): Promise<void> {
    if (scope === 'discovery' || scope === 'all') this.#discovered = undefined;
    if (scope === 'client' || scope === 'all') await this.#keep({ client: undefined });
    if (scope === 'tokens' || scope === 'all') await this.#keep({ tokens: undefined });
  }

  /** Forgets client and tokens. @returns Whether there were any. */
  async forget(): Promise<boolean> {
    const { tokens, client } = this.#kept;
    this.#kept.tokens = undefined;
    this.#kept.client = undefined;
    await rm(this.#file, { force: true });
    return tokens !== undefined || client !== undefined;
  }

  /** Appears by a rename, so that two processes that refresh a token never read half a file. */
  async #keep(part: Partial<Kept>): Promise<void> {
    Object.assign(this.#kept, part);
    const folder = loginFolder();
    const written = `${this.#file}.${process.pid}`;
    await withDiskErrors(this.#file, async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(written, `${JSON.stringify(this.#kept, null, 2)}\n`, { mode: 0o600 });
      await rename(written, this.#file);
    });
  }
}

/** In the folder for settings of users (XDG Base Directory Specification). */
function loginFolder(): string {
  const settings = process.env.XDG_CONFIG_HOME || process.env.APPDATA || join(homedir(), '.config');
  return join(settings, 'toolenv', 'mcp');
}

function read(file: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function isSame(a: string, b: string): boolean {
  return a.replace(/\/$/, '') === b.replace(/\/$/, '');
}
