/** A stand-in of the Hugging Face Hub on loopback: its API, its files, and a second server that has the files of LFS. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** What a request is for. */
export type Part = 'info' | 'tree' | 'file' | 'storage' | 'write';

export interface Seen {
  part: Part;
  method: string;
  path: string;
  authorization: string | undefined;
  range: string | undefined;
}

interface Entry {
  type: 'file';
  path: string;
  size: number;
  oid: string;
  lfs?: { oid: string; size: number; pointerSize: number };
}

interface Repo {
  type: 'models' | 'datasets';
  name: string;
  /** Branch or tag → commit. */
  refs: Map<string, string>;
  /** Commit → path → content. */
  commits: Map<string, Map<string, Buffer>>;
  isPrivate?: boolean;
}

/** Bytes above which a file is uploaded in parts. */
const partSize = 100_000;

export const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');
export const gitSha1 = (content: Buffer) =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
const isLfs = (path: string) => /\.(safetensors|parquet|bin)$/.test(path);

export class StandInHub {
  readonly seen: Seen[] = [];
  readonly repos: Map<string, Repo> = new Map();
  /** Answers a request in place of the stand-in, if it returns true. */
  fault: ((part: Part, request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Changes the list of files. */
  relist: (entries: Entry[]) => unknown[] = (entries) => entries;
  url = '';
  storage = '';
  readonly #uploaded: Map<string, Buffer> = new Map();
  readonly #servers: Server[] = [];

  async listen(): Promise<this> {
    this.url = await this.#serve((request, response) => this.#answer(request, response));
    this.storage = await this.#serve((request, response) => this.#store(request, response));
    return this;
  }

  /** The environment of a process that uses the stand-in, with a cache of its own in `home`. Empty variables count as unset. */
  variables(home: string, token = ''): Record<string, string> {
    const unset = [
      ...['HUGGING_FACE_HUB_TOKEN', 'HF_TOKEN_PATH', 'HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE'],
      ...['HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE'],
    ];
    return {
      ...Object.fromEntries(unset.map((name) => [name, ''])),
      HF_ENDPOINT: this.url,
      HF_HOME: home,
      HF_TOKEN: token,
    };
  }

  close(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  /** Adds a commit with the files of a folder. @returns The commit and the files. */
  async addFolder(name: string, folder: string): Promise<{ commit: string; files: Record<string, Buffer> }> {
    const paths = await readdir(folder);
    const read = paths.map(async (path) => [path, await readFile(join(folder, path))] as const);
    const files = Object.fromEntries(await Promise.all(read));
    return { commit: this.add(name, files), files };
  }

  /** Adds a commit to a repository's branch. @returns The commit. */
  add(
    name: string,
    files: Readonly<Record<string, Buffer | string>>,
    { type = 'models', branch = 'main' }: { type?: Repo['type']; branch?: string } = {},
  ): string {
    const key = `${type}/${name}`;
    const repo: Repo = this.repos.get(key) ?? { type, name, refs: new Map(), commits: new Map() };
    const content = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
    const commit = createHash('sha1')
      .update([...content].map(([path, bytes]) => path + sha256(bytes)).join())
      .digest('hex');
    repo.commits.set(commit, content);
    repo.refs.set(branch, commit);
    this.repos.set(key, repo);
    return commit;
  }

  /** What was asked for, by part. */
  parts(part: Part): Seen[] {
    return this.seen.filter((each) => each.part === part);
  }

  async #serve(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
    const server = createServer((request, response) => void answer(request, response));
    this.#servers.push(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  #note(part: Part, { method = '', url = '', headers }: IncomingMessage): void {
    this.seen.push({ part, method, path: url, authorization: headers.authorization, range: headers.range });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url!, this.url);
    const part: Part =
      request.method === 'POST'
        ? 'write'
        : pathname.includes('/tree/')
          ? 'tree'
          : pathname.startsWith('/api/')
            ? 'info'
            : 'file';
    this.#note(part, request);
    if (this.fault?.(part, request, response)) return;
    if (part === 'write') return this.#write(pathname, request, response);
    const path = pathname.replace(/^\/api\//, '/').replace(/^\/(?!models\/|datasets\/)/, '/models/');
    const [, type, name, rest = ''] = /^\/(models|datasets)\/([^/]+\/[^/]+)\/(.*)$/.exec(path) ?? [];
    const repo = this.repos.get(`${type}/${name}`);
    const isHidden = repo?.isPrivate && request.headers.authorization !== 'Bearer hf_standInToken';
    if (!repo || isHidden)
      return send(
        response,
        request.headers.authorization ? 404 : 401,
        { error: 'Repository not found' },
        { 'x-error-code': 'RepoNotFound' },
      );
    const [kind, ref = '', ...tail] = rest.split('/').map(decodeURIComponent);
    const commit = repo.refs.get(ref) ?? (repo.commits.has(ref) ? ref : undefined);
    if (commit === undefined)
      return send(response, 404, { error: 'Invalid rev id' }, { 'x-error-code': 'RevisionNotFound' });
    const files = repo.commits.get(commit)!;
    if (kind === 'revision')
      return send(response, 200, {
        _id: '1',
        id: name,
        sha: commit,
        private: false,
        lastModified: '2026-01-01',
      });
    if (kind === 'tree') {
      const isDeep = new URL(request.url!, this.url).searchParams.get('recursive') === 'true';
      const entries = [...files].filter(([each]) => isDeep || !each.includes('/')).map(entryOf);
      return send(response, 200, this.relist(entries));
    }
    const content = files.get(tail.join('/'));
    if (!content)
      return send(response, 404, { error: 'Entry not found' }, { 'x-error-code': 'EntryNotFound' });
    // Python reads these.
    response.setHeader('x-repo-commit', commit);
    response.setHeader('etag', `"${gitSha1(content)}"`);
    if (!isLfs(tail.join('/'))) return sendFile(request, response, content);
    const linked = { 'x-linked-etag': `"${sha256(content)}"`, 'x-linked-size': content.length };
    const location = `${this.storage}/${name}/${sha256(content)}?signature=1`;
    response.writeHead(302, { ...linked, location }).end();
  }

  #store(request: IncomingMessage, response: ServerResponse): unknown {
    this.#note('storage', request);
    if (this.fault?.('storage', request, response)) return undefined;
    const digest = /([0-9a-f]{64})/.exec(request.url!)?.[1];
    if (request.method === 'PUT') {
      void bodyOf(request).then((body) => {
        const at = new URL(request.url!, this.storage).searchParams.get('part');
        this.#uploaded.set(`${digest}${at ?? ''}`, body);
        response.writeHead(200, { etag: '"1"' }).end();
      });
      return undefined;
    }
    if (request.method === 'POST') {
      // Of a large file, all parts are there.
      const parts = [...this.#uploaded.keys()].filter((key) => key.startsWith(digest!)).sort();
      this.#uploaded.set(digest!, Buffer.concat(parts.map((key) => this.#uploaded.get(key)!)));
      request.resume();
      return send(response, 200, {});
    }
    for (const { commits } of this.repos.values())
      for (const files of commits.values())
        for (const content of files.values())
          if (sha256(content) === digest) return sendFile(request, response, content);
    return response.writeHead(404).end();
  }

  /** One address, or one for each part of a large file, as the Hub has them. */
  #uploadOf({ oid, size }: { oid: string; size: number }): object {
    const href = `${this.storage}/upload/${oid}`;
    if (size <= partSize) return { href: `${href}?signature=1`, header: {} };
    const parts = Array.from({ length: Math.ceil(size / partSize) }, (_, n) =>
      String(n + 1).padStart(5, '0'),
    );
    const header = Object.fromEntries(parts.map((part) => [part, `${href}?part=${part}`]));
    return { href: `${href}?complete=1`, header: { ...header, chunk_size: String(partSize) } };
  }

  async #write(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await bodyOf(request)).toString();
    if (request.headers.authorization !== 'Bearer hf_standInToken')
      return send(response, 401, { error: 'Invalid credentials' });
    if (path === '/api/repos/create') {
      const { organization, name, visibility } = JSON.parse(body);
      const full = `${organization}/${name}`;
      if (this.repos.has(`models/${full}`))
        return send(response, 409, { error: 'You already created this model repo' });
      this.add(full, { '.gitattributes': '' });
      if (visibility === 'private') this.repos.get(`models/${full}`)!.isPrivate = true;
      return send(response, 200, { url: `${this.url}/${full}`, id: '1' });
    }
    const [, name, action, branch] =
      /^\/(?:api\/models\/)?([^/]+\/[^/]+?)(?:\.git)?\/(preupload|commit|branch|info)\/(.*)$/.exec(path) ??
      [];
    const repo = this.repos.get(`models/${name}`);
    if (!repo)
      return send(response, 404, { error: 'Repository not found' }, { 'x-error-code': 'RepoNotFound' });
    if (action === 'preupload') {
      const files = (JSON.parse(body).files as { path: string }[]).map((file) => ({
        ...file,
        uploadMode: isLfs(file.path) ? 'lfs' : 'regular',
      }));
      return send(response, 200, { files });
    }
    if (action === 'info') {
      const { objects: asked, transfers } = JSON.parse(body) as {
        objects: { oid: string; size: number }[];
        transfers: string[];
      };
      const objects = asked.map((each) => ({ ...each, actions: { upload: this.#uploadOf(each) } }));
      if (!transfers.includes('basic')) return send(response, 400, { error: 'No known transfer' });
      return send(response, 200, { transfer: 'basic', objects });
    }
    const at = decodeURIComponent(branch!);
    if (action === 'branch') {
      if (repo.refs.has(at)) return send(response, 409, { error: 'Reference already exists' });
      repo.refs.set(at, repo.refs.get('main')!);
      return send(response, 200, {});
    }
    const base = repo.refs.get(at);
    if (base === undefined)
      return send(response, 404, { error: 'Invalid rev id' }, { 'x-error-code': 'RevisionNotFound' });
    const files: Record<string, Buffer> = Object.fromEntries(repo.commits.get(base)!);
    for (const line of body.split('\n')) {
      const { key, value } = JSON.parse(line);
      if (key === 'file') files[value.path] = Buffer.from(value.content, value.encoding ?? 'utf8');
      if (key !== 'lfsFile') continue;
      const content = this.#uploaded.get(value.oid);
      if (!content || sha256(content) !== value.oid)
        return send(response, 400, { error: 'The file was not uploaded' });
      files[value.path] = content;
    }
    const commit = this.add(name!, files, { branch: at });
    send(response, 200, {
      commitOid: commit,
      commitUrl: `${this.url}/${name}/commit/${commit}`,
      hookOutput: '',
    });
  }
}

function entryOf([path, content]: [string, Buffer]): Entry {
  const lfs = { oid: sha256(content), size: content.length, pointerSize: 130 };
  return { type: 'file', path, size: content.length, oid: gitSha1(content), ...(isLfs(path) && { lfs }) };
}

export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Sends a file, or what a Range header asks for. @param most Bytes after which the connection is cut. */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
  most?: number,
): void {
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  if (start > 0 && start >= content.length)
    return void response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
  const rest = content.subarray(start);
  response.writeHead(start > 0 ? 206 : 200, {
    'content-length': rest.length,
    ...(start > 0 && { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` }),
  });
  if (most === undefined || most >= rest.length) response.end(rest);
  else response.write(rest.subarray(0, most), () => setTimeout(() => response.destroy(), 50));
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
