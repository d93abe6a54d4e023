/**
 * Programs that meet our MCP side: of npm, installed in .mcp-peers, with a newer Node if they need it; and those of the folders `python`,
 * `go` and `rust`, which use libraries of these languages.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { McpEndpoint } from '@toolenv/mcp';
import { freePort } from '../free-port.ts';

const root = join(import.meta.dirname, '../../..');
const peers = join(root, '.mcp-peers');

/** The oldest major version of Node that runs the peers. */
const oldestNode = 22;
const newerNode = '22.23.3';

export interface Peer {
  /** Node and the program, before its arguments. */
  command: string;
  args: string[];
}

/**
 * @param bin Path of the program in its package.
 * @throws Error if npm cannot install it; its output is on stderr.
 */
export function npmPeer(name: string, version: string, bin: string): Peer {
  const program = join(install(name, version), bin);
  return { command: node(), args: [program] };
}

function node(): string {
  if (Number(process.versions.node.split('.')[0]) >= oldestNode) return process.execPath;
  const folder = install(`node-${process.platform}-${process.arch}`, newerNode);
  return join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/** @param python Has the packages of mcp.txt. */
export function pythonPeer(python: string, script: string, ...args: string[]): Peer {
  return { command: python, args: [join(import.meta.dirname, 'python', script), ...args] };
}

/**
 * @param folder Of the program.
 * @throws Error if it cannot be built; the output of Go is on stderr.
 */
export function goPeer(folder: 'go' | 'go-official', ...args: string[]): Peer {
  const program = join(peers, folder, 'program');
  build(folder, ['build', '-o', program, '.'], 'Go 1.25.5 or later from https://go.dev/dl', 'go');
  return { command: program, args };
}

/** @throws Error if it cannot be built; the output of Cargo is on stderr. */
export function rustPeer(...args: string[]): Peer {
  const target = join(peers, 'rust');
  build(
    'rust',
    ['build', '--quiet', '--locked', '--target-dir', target],
    'Rust 1.88 or later from https://rustup.rs',
    'cargo',
  );
  return { command: join(target, 'debug', 'shop'), args };
}

function build(folder: string, args: string[], toolchain: string, tool: string): void {
  const cwd = join(import.meta.dirname, folder);
  const { error, status } = spawnSync(tool, args, { cwd, stdio: ['ignore', 2, 'inherit'] });
  if (error) throw new Error(`Could not start ${tool} (${error.message}): install ${toolchain}.`);
  if (status !== 0) throw new Error(`Could not build the program in ${cwd}: fix the error above.`);
}

/** The folder of the package. */
function install(name: string, version: string): string {
  const prefix = join(peers, name.replaceAll('/', '-'));
  const folder = join(prefix, 'node_modules', name);
  const json = join(folder, 'package.json');
  if (existsSync(json) && JSON.parse(readFileSync(json, 'utf8')).version === version) return folder;
  console.error(`Installing ${name}@${version} …`);
  const args = ['install', '--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', [...args, `${name}@${version}`], { stdio: ['ignore', 2, 'inherit'] });
  if (status !== 0) throw new Error(`Could not install ${name}@${version}: fix the error above.`);
  return folder;
}

/** Starts a peer. Its output is not inherited. */
export function runPeer({ command, args }: Peer, more: string[], cwd: string = root): ChildProcess {
  const env = { ...process.env, PATH: `${dirname(command)}:${process.env.PATH}` };
  return spawn(command, [...args, ...more], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Uses a server over Streamable HTTP, which takes its port as its argument. */
export async function overHttp(peer: Peer, use: (server: McpEndpoint) => Promise<void>): Promise<void> {
  const port = await freePort();
  const child = runPeer(peer, [String(port)]);
  child.stdout!.resume();
  child.stderr!.resume();
  try {
    await listening(port);
    await use({ url: `http://127.0.0.1:${port}/mcp` });
  } finally {
    child.kill();
    await once(child, 'close');
  }
}

/** @throws Error if nothing listens on the port within 30 seconds. */
async function listening(port: number): Promise<void> {
  for (let wait = 0; wait < 300; wait++) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(100);
  }
  throw new Error(`The server does not listen on port ${port}.`);
}
