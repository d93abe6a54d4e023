/** `toolenv data`, with a server on loopback in place of the authors'. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '@toolenv/core/files';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { fetchDataset } from '../src/commands/data-command.ts';
import { fixture } from '../test/fixture.ts';
import { runCli } from '../test/run-cli.ts';
import { canMount, SmallDisk } from '../test/small-disk.ts';

const content = randomBytes(3_000_000);
const digest = createHash('sha256').update(content).digest('hex');
const name = 'musique_v1.0.zip';

/** Serves `content` with ranges, and may drop connections. */
class FileServer {
  /** Range headers of the requests; an empty text without. */
  readonly ranges: string[] = [];
  /** Bytes after which each connection drops. */
  dropAfter: number[] = [];
  etag = '"1"';
  reply: ((response: ServerResponse) => void) | undefined;
  body: Buffer = content;
  readonly #server: Server = createServer((request, response) => this.#serve(request, response));

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #serve({ headers }: IncomingMessage, response: ServerResponse): void {
    this.ranges.push(headers.range ?? '');
    if (this.reply) {
      this.reply(response);
      return;
    }
    const asked =
      headers['if-range'] === this.etag ? /^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] : undefined;
    const start = Number(asked ?? 0);
    const rest = this.body.subarray(start);
    response.writeHead(asked === undefined ? 200 : 206, {
      etag: this.etag,
      'content-length': rest.length,
      ...(asked && { 'content-range': `bytes ${start}-${this.body.length - 1}/${this.body.length}` }),
    });
    const drop = this.dropAfter.shift();
    if (drop === undefined) response.end(rest);
    else response.write(rest.subarray(0, drop), () => setTimeout(() => response.destroy(), 100));
  }
}

let folder: string;
let server: FileServer;
let url: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolenv-data-'));
  server = new FileServer();
  url = await server.listen();
});
afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const file = () => join(folder, name);
/** Vitest compares large buffers slowly. */
const isWhole = async (path: string) => content.equals(await readFile(path));
const page = 'https://example.org/page';

/** Fetches in this process what `toolenv data` fetches. */
function run(signal = new AbortController().signal, to = folder) {
  return fetchDataset([{ name, url: `${url}/${name}`, page }], { folder: to, signal });
}

async function failure(run: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = (await run.catch((thrown) => thrown)) as { code: string; message: string };
  expect(error.message).not.toContain('\n');
  return error;
}

describe('toolenv data', () => {
  it('fetches the files, records their digests and says how to use them', async () => {
    const { code, stdout, stderr } = await runCli('data', 'musique', '--dir', folder, '--from', url);
    expect([code, stderr.match(/toolenv:.*/)]).toEqual([0, null]);
    expect(await isWhole(file())).toBe(true);
    expect(await readFile(`${file()}.sha256`, 'utf8')).toBe(`${digest}  ${name}\n`);
    expect(stdout).toContain(`${file()}  3.0 MB, fetched, SHA-256 ${digest} (recorded)`);
    expect(stdout).toContain('Licence: CC BY 4.0');
    expect(stdout).toContain(
      `toolenv eval @toolenv/envs-qa/musique-v1 --policy <folder> --path ${file()}/musique_ans_v1.0_train.jsonl`,
    );
    expect((await readdir(folder)).sort()).toEqual([name, `${name}.sha256`]);
  });

  it("refuses a file that differs from the authors' digest", async () => {
    const { code, stderr } = await runCli('data', 'gsm8k', '--dir', folder, '--from', url);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `train.jsonl has the SHA-256 ${digest}, and not 17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465, of its authors: delete the file`,
    );
  });

  it('refuses an environment without a dataset, and a name that does not exist', async () => {
    const none = await runCli('data', fixture.env, '--dir', folder);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('has no dataset to fetch') });
    const unknown = await runCli('data', '@toolenv/envs-qa/hotpotq-v1', '--dir', folder);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('hotpotqa-v1') });
  });
});

describe('fetching', () => {
  it('verifies a file that is there, and fetches nothing', async () => {
    await run();
    expect(await run()).toEqual([
      { path: file(), bytes: content.length, sha256: digest, verified: 'recorded', fetched: false },
    ]);
    expect(server.ranges.length).toBe(1);
    await writeFile(file(), 'something else');
    const { code, message } = await failure(run());
    expect(code).toBe('usage.digest');
    expect(message).toMatch(/zip has the SHA-256 [0-9a-f]{64}, and not .*: delete the file and its \.sha256/);
    expect(message).toContain(digest);
  });

  it('goes on after dropped connections, from where they dropped', async () => {
    server.dropAfter = [1_000_000, 500_000];
    await run();
    expect(await isWhole(file())).toBe(true);
    const [all, ...starts] = server.ranges;
    expect(all).toBe('');
    // A loaded machine may lose the last bytes before the connection drops.
    const [first, second] = starts.map((range) => Number(/^bytes=(\d+)-$/.exec(range)?.[1]));
    expect(starts).toHaveLength(2);
    expect(first).toSatisfy((at: number) => at > 500_000 && at <= 1_000_000);
    expect(second).toSatisfy((at: number) => at > first! && at <= first! + 500_000);
  });

  it('keeps what arrived when it fails, and goes on with it in the next run', async () => {
    server.dropAfter = [2_000_000, 0, 0, 0, 0, 0];
    const { code, message } = await failure(run());
    expect(code).toBe('infrastructure.download');
    const kept = Number(/ (\d+) bytes are kept: run the same command again to continue\./.exec(message)?.[1]);
    expect(kept).toSatisfy((bytes: number) => bytes > 1_000_000 && bytes <= 2_000_000);
    expect(message).toContain(`Or fetch it on another machine, from ${page}, and put it at ${file()}.`);
    expect(existsSync(file())).toBe(false);
    server.ranges.length = 0;
    server.dropAfter = [];
    await run();
    expect(server.ranges).toEqual([`bytes=${kept}-`]);
    expect(await isWhole(file())).toBe(true);
  });

  it('begins anew if the file has changed on the server', async () => {
    await writeFile(`${file()}.partial`, 'the beginning of another file');
    const before = { url: `${url}/${name}`, validator: '"0"' };
    await writeFile(`${file()}.partial.json`, JSON.stringify(before));
    await run();
    expect(server.ranges).toEqual(['bytes=29-']);
    expect(await isWhole(file())).toBe(true);
  });

  it('stops at a signal and keeps what arrived', async () => {
    server.reply = (response) => {
      response.writeHead(200, { etag: '"1"', 'content-length': content.length });
      response.write(content.subarray(0, 1_000_000));
    };
    const controller = new AbortController();
    const stopped = run(controller.signal).catch((error) => error);
    const arrived = () =>
      stat(`${file()}.partial`).then(
        ({ size }) => size,
        () => 0,
      );
    while ((await arrived()) < 1_000_000) await new Promise((done) => setTimeout(done, 20));
    controller.abort(new Error('Ctrl-C'));
    expect(await stopped).toEqual(new Error('Ctrl-C'));
    server.reply = undefined;
    await run();
    expect(server.ranges.at(-1)).toBe('bytes=1000000-');
  });

  it.each([
    [404, 'text/plain', /HTTP 404 .*Or fetch it on another machine/],
    [200, 'text/html; charset=utf-8', /the server sent a page instead of the file.*Or fetch it/],
  ])('refuses an answer %s of %s at once', async (status, type, expected) => {
    server.reply = (response) => response.writeHead(status, { 'content-type': type }).end('<html>');
    expect((await failure(run())).message).toMatch(expected);
    expect(server.ranges.length).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('says without a network which file to put where, and takes it from there', async () => {
    server.close();
    const { code, message } = await failure(run());
    expect(code).toBe('infrastructure.download');
    expect(message).toMatch(
      /^http:.* cannot be fetched \(.*ECONNREFUSED.*\)\. Or fetch it on another machine/,
    );
    expect(message).toContain(`put it at ${file()}.`);
    await writeFile(file(), content);
    expect(await run()).toMatchObject([{ fetched: false, verified: null }]);
  });

  it.runIf(canMount())('ends in one line on a full disk, and goes on when there is room', async () => {
    const disk = new SmallDisk(2_000);
    onTestFinished(() => disk.remove());
    const { code, message } = await failure(run(undefined, disk.folder));
    expect(code).toBe('infrastructure.disk');
    expect(message).toMatch(/partial.* cannot be written \(.*ENOSPC.*\): make room/);
    disk.remount('size=9m');
    await run(undefined, disk.folder);
    expect(server.ranges.at(-1)).toMatch(/^bytes=[12]\d{6}-$/);
    expect(await isWhole(join(disk.folder, name))).toBe(true);
  });

  it('compares with the digest that the authors publish, and refuses any other', async () => {
    const { signal } = new AbortController();
    const fetchAs = (sha256: string) =>
      fetchDataset([{ name: 'a.bin', url: `${url}/a.bin`, sha256 }], { folder, signal });
    await expect(fetchAs('0'.repeat(64))).rejects.toMatchObject({ code: 'usage.digest' });
    expect(await fetchAs(digest)).toMatchObject([{ verified: 'published', sha256: digest }]);
  });

  it('is refused while another process fetches into the folder', async () => {
    const lock = await lockFolder(folder);
    await expect(run()).rejects.toThrow(String(process.pid));
    await lock.release();
    expect(server.ranges).toEqual([]);
  });
});
