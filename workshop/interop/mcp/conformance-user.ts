/** A user who agrees to every authorization, and the OAuth provider of their program. It keeps everything in memory. */
import {
  auth,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';

/** Where the suite expects the document that describes its client. */
const clientMetadataUrl = 'https://conformance-test.local/client-metadata.json';
const callback = 'http://localhost:3000/callback';

/** A client that was registered before, as a scenario may give it. */
export interface Registered {
  client_id?: string;
  client_secret?: string;
}

export class ConformanceUser implements OAuthClientProvider {
  readonly redirectUrl = callback;
  readonly clientMetadataUrl = clientMetadataUrl;
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: 'toolenv',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  /** By the authorization server that issued them. */
  readonly #clients = new Map<string, StoredOAuthClientInformation>();
  readonly #registered: Registered;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = '';
  #discovered: OAuthDiscoveryState | undefined;
  /** Where the authorization server sent the browser, until the program has used the code. */
  #returned: URL | undefined;

  constructor(registered: Registered) {
    this.#registered = registered;
  }

  clientInformation(context?: { issuer: string }): StoredOAuthClientInformation | undefined {
    const { client_id, client_secret } = this.#registered;
    if (client_id !== undefined) return { client_id, ...(client_secret !== undefined && { client_secret }) };
    return this.#clients.get(context?.issuer ?? '');
  }

  saveClientInformation(client: StoredOAuthClientInformation, context?: { issuer: string }): void {
    this.#clients.set(context?.issuer ?? '', client);
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const agreed = await fetch(url, { redirect: 'manual' });
    const location = agreed.headers.get('location');
    if (location) this.#returned = new URL(location);
  }

  /** Uses the code that the user brought back. Returns whether there was a code. */
  async finish(serverUrl: string): Promise<boolean> {
    const returned = this.#returned;
    if (!returned) return false;
    this.#returned = undefined;
    const authorizationCode = returned.searchParams.get('code') ?? '';
    const iss = returned.searchParams.get('iss') ?? undefined;
    await auth(this, { serverUrl, authorizationCode, ...(iss !== undefined && { iss }) });
    // The server may name another authorization server next time.
    this.#discovered = undefined;
    return true;
  }
}
