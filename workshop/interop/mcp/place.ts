/** Place: what the servers need: their programs, a folder with files, a web page, and a database. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { McpCommand } from '@toolenv/mcp';
import { freePort } from '../free-port.ts';
import pins from './npm.json' with { type: 'json' };

const cache = join(import.meta.dirname, '../../../runs/mcp-servers');
const wait = 60_000;

export interface Place {
  /** Has note.txt, note.pdf, birds.drawio, eslint.config.js, bad.js, and the git repository `repository`. */
  folder: string;
  /** A page with the word "Albatross". */
  pageUrl: string;
  /** An empty PostgreSQL database. */
  postgresUrl: string;
  npm(program: string, ...args: string[]): McpCommand;
  /** With version 2 of the Python SDK. */
  python(program: string, ...args: string[]): McpCommand;
  /** With version 1 of the Python SDK. */
  olderPython(program: string, ...args: string[]): McpCommand;
  /** Starts a server over HTTP, and waits until its port is open. It ends with the place. */
  listen(server: (port: number) => McpCommand): Promise<number>;
  close(): Promise<void>;
}

/** @param python The Pythons of the two environments. */
export async function openPlace(python: string, olderPython: string): Promise<Place> {
  installNpm();
  const folder = await mkdtemp(join(tmpdir(), 'toolenv-servers-'));
  await fill(folder);
  const page = createServer((request, response) => {
    if (request.url !== '/page') return response.writeHead(404).end('no such page');
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Birds</h1><p>Albatross</p>');
  });
  page.listen(0, '127.0.0.1');
  await once(page, 'listening');
  const started: ChildProcess[] = [];
  const programOf =
    (bin: string) =>
    (program: string, ...args: string[]) => ({
      command: join(bin, program),
      args,
    });
  const place: Place = {
    folder,
    pageUrl: `http://127.0.0.1:${(page.address() as AddressInfo).port}/page`,
    postgresUrl: '',
    npm: programOf(join(cache, 'node_modules/.bin')),
    python: programOf(dirname(python)),
    olderPython: programOf(dirname(olderPython)),
    async listen(server) {
      const port = await freePort();
      const { command, args = [], env } = server(port);
      const child = spawn(command, args, {
        env: { ...process.env, ...env },
        stdio: 'ignore',
        detached: true,
      });
      started.push(child);
      await portIsOpen(port);
      return port;
    },
    close: () => close(folder, page, started),
  };
  const port = await place.listen((port) =>
    place.npm(
      'pglite-server',
      '--db=memory://',
      '--host=127.0.0.1',
      `--port=${port}`,
      '--max-connections=10',
    ),
  );
  place.postgresUrl = `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`;
  return place;
}

function installNpm(): void {
  const isInstalled = Object.entries(pins).every(([name, version]) => {
    const json = join(cache, 'node_modules', name, 'package.json');
    return existsSync(json) && JSON.parse(readFileSync(json, 'utf8')).version === version;
  });
  if (isInstalled) return;
  console.error(`Installing ${Object.keys(pins).length} packages in ${cache} …`);
  mkdirSync(cache, { recursive: true });
  const names = Object.entries(pins).map(([name, version]) => `${name}@${version}`);
  // No scripts: some packages download browsers or programs.
  const flags = ['--prefix', cache, '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
  execFileSync('npm', ['install', ...flags, ...names], { stdio: ['ignore', 2, 'inherit'] });
}

async function fill(folder: string): Promise<void> {
  await writeFile(join(folder, 'note.txt'), 'a note\n');
  await writeFile(join(folder, 'note.pdf'), pdf('Albatross'));
  const diagram =
    '<mxfile><diagram id="a" name="Albatross"><mxGraphModel><root/></mxGraphModel></diagram></mxfile>';
  await writeFile(join(folder, 'birds.drawio'), diagram);
  await writeFile(
    join(folder, 'eslint.config.js'),
    "module.exports = [{ rules: { 'no-undef': 'error' } }];\n",
  );
  await writeFile(join(folder, 'bad.js'), 'nowhere();\n');
  const repository = join(folder, 'repository');
  await mkdir(repository);
  await writeFile(join(repository, 'a.txt'), 'a\n');
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-C', repository, '-c', 'user.name=toolenv', '-c', 'user.email=toolenv@localhost', ...args],
      {
        stdio: 'ignore',
      },
    );
  git('init');
  git('add', '.');
  git('commit', '-m', 'Add a bird');
}

/** A document of one page (ISO 32000-1, 7.5). */
function pdf(text: string): string {
  const content = `BT /F1 24 Tf 72 700 Td (${text}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const entries = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${entries}`;
  return `${file}${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
}

async function portIsOpen(port: number): Promise<void> {
  const late = performance.now() + wait;
  while (performance.now() < late) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await sleep(200);
  }
  throw new Error(`Nothing listens on port ${port}: start the server by hand to see its error.`);
}

async function close(folder: string, page: Server, started: readonly ChildProcess[]): Promise<void> {
  for (const { pid } of started) {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
  page.close();
  page.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
}
