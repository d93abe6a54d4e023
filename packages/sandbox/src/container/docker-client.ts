/** DockerClient: the part of Docker's HTTP API that sandboxes need, over a Unix socket. Docker and podman serve it. */

import { existsSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type Duplex, pipeline, Readable } from 'node:stream';
import { messageOf } from '@toolenv/core';
import { tryJson } from '@toolenv/core/schemas';
import { sandboxUsage } from '../sandbox-errors.ts';

/** An answer of the daemon that is not a success. */
export class DockerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** An answer that is longer than one that is read whole. */
export class LongAnswer extends Error {}

/** The oldest version of the API that has all that is needed here: that of Docker 20.10 and podman 4. */
const oldestMinor = 41;

/** Milliseconds without a byte after which the daemon counts as silent. */
const silence = 60_000;

/** Bytes of an answer that is read whole. A daemon's are small. */
const maxAnswerLength = 16 * 2 ** 20;

/** What a request sends beside its path. */
export interface DockerRequest {
  /** An object is sent as JSON, bytes as a tar archive. */
  body?: object | AsyncIterable<Uint8Array> | undefined;
  /** Milliseconds without a byte after which the request fails. Default: 60,000. 0: it never fails for it. */
  silence?: number;
  signal?: AbortSignal | undefined;
}

export class DockerClient {
  readonly #socketPath: string;
  readonly #version: string;

  private constructor(socketPath: string, version: string) {
    this.#socketPath = socketPath;
    this.#version = version;
  }

  /**
   * Agrees with the daemon on a version of the API.
   * @throws DockerError if the daemon is too old, or an error of the socket.
   */
  static async connect(socketPath: string): Promise<DockerClient> {
    const found = Object(await new DockerClient(socketPath, '').ask('GET', '/version')) as {
      ApiVersion?: string;
      MinAPIVersion?: string;
    };
    const minor = (version = '') => Number(/^1\.(\d+)$/.exec(version)?.[1] ?? 0);
    if (minor(found.ApiVersion) < oldestMinor) {
      const needed = 'Docker 20.10 or podman 4 is the oldest that will do';
      throw new DockerError(400, `it speaks version ${found.ApiVersion} of Docker's API: ${needed}`);
    }
    return new DockerClient(socketPath, `/v1.${Math.max(oldestMinor, minor(found.MinAPIVersion))}`);
  }

  /**
   * @returns The JSON of the answer; `undefined` if it is empty.
   * @throws DockerError, or an error of the socket.
   */
  async ask(
    method: string,
    path: string,
    body?: object,
    options: Pick<DockerRequest, 'silence'> = {},
  ): Promise<unknown> {
    return tryJson(await textOf(await this.stream(method, path, { body, ...options })));
  }

  /**
   * The answer of the daemon, as it arrives. Whoever does not read it to its end destroys it.
   * @throws DockerError, or an error of the socket.
   */
  stream(method: string, path: string, { body, ...rest }: DockerRequest = {}): Promise<IncomingMessage> {
    return new Promise((settle, fail) => {
      const sent = this.#request(method, path, { body, ...rest });
      sent.once('error', fail);
      sent.once('response', (response) => {
        response.once('error', fail);
        const { statusCode = 0 } = response;
        if (statusCode < 300 || statusCode === 304) settle(response);
        else refusal(response).then(fail);
      });
    });
  }

  /** Begins an exec, and gives its streams: written bytes are its stdin, and frames of its output are read. */
  attach(exec: string): Promise<Duplex> {
    return new Promise((settle, fail) => {
      const body = { Detach: false, Tty: false };
      const upgrade = { connection: 'Upgrade', upgrade: 'tcp' };
      const sent = this.#request('POST', `/exec/${exec}/start`, { body }, upgrade);
      sent.once('error', fail);
      sent.once('upgrade', (_response, socket, head) => {
        socket.setTimeout(0);
        socket.on('error', () => {});
        if (head.length > 0) socket.unshift(head);
        settle(socket);
      });
      sent.once('response', (response) => refusal(response).then(fail));
    });
  }

  #request(
    method: string,
    path: string,
    { body, silence: limit = silence, signal }: DockerRequest,
    extra: Record<string, string> = {},
  ): ClientRequest {
    const bytes = body !== undefined && Symbol.asyncIterator in body ? body : undefined;
    const text = bytes || body === undefined ? undefined : JSON.stringify(body);
    const content = bytes
      ? { 'content-type': 'application/x-tar' }
      : text !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        };
    const sent = request({
      socketPath: this.#socketPath,
      method,
      path: `${this.#version}${path}`,
      headers: { host: 'docker', ...content, ...extra },
      agent: false,
      ...(signal && { signal }),
    });
    sent.setTimeout(limit, () => sent.destroy(new Error('the daemon does not answer')));
    // The request itself reports an error of the body.
    if (bytes) pipeline(Readable.from(bytes), sent, () => {});
    else sent.end(text);
    return sent;
  }
}

/** Why the daemon refuses a request. */
async function refusal(response: IncomingMessage): Promise<DockerError> {
  const { statusCode = 0 } = response;
  const answer = tryJson(await textOf(response).catch(() => ''));
  const said = (Object(answer) as { message?: unknown }).message;
  return new DockerError(statusCode, typeof said === 'string' ? said : `status ${statusCode}`);
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length > maxAnswerLength) throw new LongAnswer('the answer of the daemon is too long');
  }
  return Buffer.concat(parts).toString();
}

/**
 * Connects to the daemon of Docker or podman.
 * @param options `socket`: path of its Unix socket. Default: that of `DOCKER_HOST`, Docker's, or podman's, of the user or of root.
 * @throws ToolEnvError `usage.sandbox` if none answers, with the remedy.
 */
export async function connectDocker({ socket = '' }: { socket?: string } = {}): Promise<DockerClient> {
  const path = socket === '' ? usualSocket() : socket;
  try {
    return await DockerClient.connect(path);
  } catch (error) {
    throw sandboxUsage(
      `Neither Docker nor podman answers at ${path} (${messageOf(error)}): start Docker or "podman system service --time 0", or give the socket with the option socket.`,
      error,
    );
  }
}

function usualSocket(): string {
  const given = /^unix:\/\/(.+)$/.exec(process.env.DOCKER_HOST ?? '')?.[1];
  const runtime = process.env.XDG_RUNTIME_DIR;
  const usual = [
    '/var/run/docker.sock',
    ...(runtime ? [`${runtime}/podman/podman.sock`] : []),
    '/run/podman/podman.sock',
  ];
  return given ?? usual.find((path) => existsSync(path)) ?? usual[0]!;
}
