/** confine: the command that runs a program by bubblewrap, where it sees what it is given and nothing else of the machine. */
import { existsSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSocketDoor } from '@toolenv/serving';

/** What a confined program may reach beside the system's programs and libraries, its working folder and its model. */
export interface Confinement {
  /** Files and folders that it may read, such as where it is installed. */
  read?: readonly string[];
  /** Folders that it may also change. */
  write?: readonly string[];
  /** Servers at the loopback of this machine that it may also reach. */
  ports?: readonly number[];
  /** Whether it has the network of this machine, its loopback included. Default false: of the network it reaches its model and `ports` only. */
  network?: boolean;
}

/** A program that bubblewrap runs. It is disposed when the program has ended. */
export interface ConfinedCommand extends AsyncDisposable {
  file: string;
  args: string[];
  env: Record<string, string>;
}

const door = fileURLToPath(new URL('./door.js', import.meta.url));
const guest = { node: '/run/toolenv/node', door: '/run/toolenv/door.mjs', sockets: '/run/toolenv' };

/** Folders of the system: its programs and libraries. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Files of the system without which its programs do not work, and none with secrets. */
const systemFiles = [
  ...['alternatives', 'group', 'hosts', 'ld.so.cache', 'localtime', 'nsswitch.conf', 'passwd', 'ssl/certs'],
  ...['ssl/openssl.cnf', 'resolv.conf'],
].map((name) => `/etc/${name}`);

/** @param env The variables of the program. Without a HOME of its own, it gets an empty folder. */
export async function confine(
  [file, ...args]: readonly [string, ...string[]],
  {
    cwd,
    env,
    home,
    baseURL,
    confinement: { read = [], write = [], ports = [], network = false },
  }: {
    cwd: string | undefined;
    env: Record<string, string>;
    home: string | undefined;
    baseURL: string;
    confinement: Confinement;
  },
): Promise<ConfinedCommand> {
  const reached = network ? [] : [...new Set([Number(new URL(baseURL).port), ...ports])];
  const doors = await Promise.all(reached.map(openSocketDoor));
  const kept = [...(cwd === undefined ? [] : [cwd]), ...(home === undefined ? [] : [home]), ...write];
  const bound = (option: string, paths: readonly string[]) => paths.flatMap((path) => [option, path, path]);
  // Programs that npm installs globally lie beside Node.
  const node = dirname(dirname(process.execPath));
  const { TMPDIR: _, TMP: __, TEMP: ___, ...others } = env;
  return {
    file: 'bwrap',
    args: [
      ...systemFolders.filter((folder) => existsSync(folder)).flatMap(mounted),
      ...systemFiles.flatMap((path) => ['--ro-bind-try', path, path]),
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--dir', '/tmp/home'],
      // Node may lie in /tmp too.
      ...(node.startsWith('/usr') || node === '/' ? [] : bound('--ro-bind', [node])),
      ...['--ro-bind', process.execPath, guest.node, '--ro-bind', door, guest.door],
      ...doors.flatMap(({ path }, n) => ['--bind', path, `${guest.sockets}/${reached[n]}.sock`]),
      ...bound('--ro-bind', read),
      ...bound('--bind', kept),
      ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
      ...(network ? [] : ['--unshare-net']),
      ...['--disable-userns', '--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--remount-ro', '/'],
      ...['--chdir', cwd ?? '/tmp', '--'],
      ...(network ? [] : [guest.node, guest.door, ...reached.map(String), '--']),
      ...[file, ...args],
    ],
    env: { ...others, HOME: home ?? '/tmp/home' },
    async [Symbol.asyncDispose]() {
      await Promise.all(doors.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

/** A folder of the system, which may be a link to another. */
function mounted(folder: string): string[] {
  try {
    return ['--symlink', readlinkSync(folder), folder];
  } catch {
    return ['--ro-bind', folder, folder];
  }
}
