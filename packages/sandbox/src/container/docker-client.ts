/** DockerClient: the part of Docker's HTTP API that sandboxes need, over a Unix socket. Docker and podman serve it. */
import { request } from 'node:http';
import type { Duplex } from 'node:stream';

/** An answer of the daemon that is not a success. */
export class DockerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The newest version of the API of which everything here is known to work with Docker 20 and podman 4. */
const version = 'v1.41';

/** Milliseconds without a byte after which the daemon counts as silent. */
const silence = 60_000;

/** Bytes of an answer. A daemon's are small. */
const longestAnswer = 16 * 2 ** 20;

export class DockerClient {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /**
   * @returns The JSON of the answer; `undefined` if it is empty.
   * @throws DockerError, or an error of the socket.
   */
  ask(method: string, path: string, body?: object): Promise<unknown> {
    return new Promise((settle, fail) => {
      const sent = this.#request(method, path, body, {});
      sent.once('error', fail);
      sent.setTimeout(silence, () => sent.destroy(new Error('the daemon does not answer')));
      sent.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
          if (text.length > longestAnswer) sent.destroy(new Error('the answer of the daemon is too long'));
        });
        response.once('error', fail);
        response.once('end', () => {
          const { statusCode = 0 } = response;
          const answer = parse(text);
          if (statusCode < 300 || statusCode === 304) return settle(answer);
          const said = (Object(answer) as { message?: unknown }).message;
          fail(new DockerError(statusCode, typeof said === 'string' ? said : `status ${statusCode}`));
        });
      });
      sent.end(body && JSON.stringify(body));
    });
  }

  /** Begins an exec, and gives its streams: written bytes are its stdin, and frames of its output are read. */
  attach(exec: string): Promise<Duplex> {
    return new Promise((settle, fail) => {
      const headers = { connection: 'Upgrade', upgrade: 'tcp' };
      const body = { Detach: false, Tty: false };
      const sent = this.#request('POST', `/exec/${exec}/start`, body, headers);
      sent.once('error', fail);
      sent.setTimeout(silence, () => sent.destroy(new Error('the daemon does not answer')));
      sent.once('upgrade', (_response, socket, head) => {
        socket.setTimeout(0);
        socket.on('error', () => {});
        if (head.length > 0) socket.unshift(head);
        settle(socket);
      });
      sent.once('response', (response) => {
        response.resume();
        fail(
          new DockerError(response.statusCode ?? 0, `the daemon refused to attach: ${response.statusCode}`),
        );
      });
      sent.end(JSON.stringify(body));
    });
  }

  #request(method: string, path: string, body: object | undefined, extra: Record<string, string>) {
    const text = body && JSON.stringify(body);
    const content = text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const headers = { host: 'docker', ...content, ...extra };
    return request({
      socketPath: this.#socketPath,
      method,
      path: `/${version}${path}`,
      headers,
      agent: false,
    });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
