/** openPage: a page of this machine at its usual port, in the browser if that is wanted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { messageOf } from '@toolenv/core/errors';
import { serveProperties } from '@toolenv/serving';
import { Option } from 'commander';

/** The page of runs and that of a played episode: a browser remembers what was chosen on a page by its port. */
export const usualPorts = { view: 4640, play: 4641 } as const;

type PortProperty = Omit<typeof serveProperties.port, 'default' | 'description'> & { description: string };

/** @param purpose What the flag is for, as the beginning of its description. */
export function portProperty(page: keyof typeof usualPorts, purpose = ''): PortProperty {
  const { default: _, ...property } = serveProperties.port;
  const otherwise = `default: ${usualPorts[page]}, or any free port if that is taken`;
  return {
    ...property,
    description: `${purpose}port of the page on this machine, 0 for any free port (${otherwise})`,
  };
}

export function openFlag(purpose = ''): Option {
  return new Option('--open', `${purpose}open the page in the browser`);
}

/** The given port, or the usual one if nothing listens there, or 0 for any. */
export async function portOf(page: keyof typeof usualPorts, given: number | undefined): Promise<number> {
  if (given !== undefined) return given;
  const server = createServer().listen(usualPorts[page], '127.0.0.1');
  try {
    await once(server, 'listening');
    return usualPorts[page];
  } catch {
    return 0;
  } finally {
    server.close();
  }
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens the page with the program of the system, and says so on stderr if that fails. */
export function openInBrowser(url: string): void {
  const [program = '', ...args] = openers[process.platform] ?? ['xdg-open'];
  const fail = (why: string) =>
    process.stderr.write(`${program} opened no browser (${why}): open ${url} yourself.\n`);
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.once('error', (error) => fail(messageOf(error)));
  child.once('exit', (code) => code && fail(`exit code ${code}`));
  child.unref();
}

/** Closes the service once the signal aborts. @throws The signal's reason. */
export async function stayOpen(service: { close(): Promise<void> }, signal: AbortSignal): Promise<void> {
  try {
    await (signal.aborted || once(signal, 'abort'));
  } finally {
    await service.close();
  }
  signal.throwIfAborted();
}
