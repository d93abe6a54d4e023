/** A package index on this machine, with wheels whose libraries are texts. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { zip } from '../../core/test/zip.ts';

/** How the server misbehaves. */
export interface Misbehaviour {
  /** Bytes of PyTorch's wheel that arrive before the connection drops, in each answer. */
  cutAfter?: number;
  /** The digest that the index gives for PyTorch's wheel. */
  digest?: string;
  /** Whether it never answers. */
  isSilent?: boolean;
  /** The page of PyTorch's files, and its type. */
  page?: [type: string, body: string];
  /** PyTorch's wheel. */
  wheel?: Buffer;
}

export const files = {
  'torch/version.py': "__version__ = '2.15.0+cu132'\n",
  'torch/__init__.py': 'no library',
  'torch/lib/libtorch_cpu.so': 'libtorch_cpu '.repeat(20_000),
  'torch/lib/libtorch_cuda.so': 'of a GPU',
};

const ofNvidia = { 'nvidia/cu13/lib/libcudart.so.13': 'cudart', 'nvidia/cu13/lib/libcupti.so.13': 'cupti' };

/** @returns Its address, and the requests so far: their paths, with the first byte that is asked for. */
export async function standInIndex(how: Misbehaviour = {}): Promise<{ index: string; requests: string[] }> {
  const requests: string[] = [];
  const tag = `manylinux_2_28_${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`;
  const wheels: Record<string, [file: string, content: Buffer]> = {
    torch: [`torch-2.15.0-cp312-cp312-${tag}.whl`, how.wheel ?? zip(files)],
    'nvidia-cuda-cupti': [`nvidia_cuda_cupti-13.2.86-py3-none-${tag}.whl`, zip(ofNvidia)],
    'nvidia-cuda-runtime': [`nvidia_cuda_runtime-13.2.86-py3-none-${tag}.whl`, zip({ 'nvidia/other': '' })],
  };
  const server = createServer((request, response) => answer(request, response));
  function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    requests.push(url + (headers.range ? ` ${headers.range}` : ''));
    if (how.isSilent) return;
    const [, kind, name = ''] = url.split('/');
    const [file, content] = Object.values(wheels).find(([each]) => each === name) ?? wheels[name]!;
    const isTorch = file.startsWith('torch');
    if (kind === 'simple') {
      const [type, body] = (isTorch && how.page) || [
        'application/vnd.pypi.simple.v1+json',
        JSON.stringify({
          files: [entry('torch-2.14.0-cp312-cp312-win_amd64.whl', 'old'), entry(file, content)],
        }),
      ];
      response.writeHead(200, { 'content-type': type }).end(body);
      return;
    }
    const start = Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
    const rest = content.subarray(start);
    const range = { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` };
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': rest.length, ...(start > 0 && range) });
    if (!isTorch || how.cutAfter === undefined) response.end(rest);
    // What has not been read yet is lost with its connection.
    else response.write(rest.subarray(0, how.cutAfter), () => setTimeout(() => response.destroy(), 200));
  }
  function entry(filename: string, content: string | Buffer) {
    const digest = createHash('sha256').update(content).digest('hex');
    const sha256 = filename.startsWith('torch') ? (how.digest ?? digest) : digest;
    return {
      filename,
      url: `../../files/${filename}`,
      hashes: { sha256 },
      size: content.length,
      yanked: false,
    };
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { index: `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`, requests };
}
