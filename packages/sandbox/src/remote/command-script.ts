/**
 * commandScript: runs a command in a machine and bounds it there. The APIs of vendors give back one stream of text, and do not stop a
 * command reliably. So the script keeps stdout and stderr apart, cuts them, stops the command in time, and writes one answer in base64.
 */
import { quoted } from '../carried-shell.ts';
import { workFolder } from '../limits.ts';

/** A command for a machine. */
export interface MachineCommand {
  /** Names the command in the machine, and its answer: letters, digits and "-". */
  id: string;
  /** Script for `bash`, or `sh` where there is no bash. */
  script: string;
  stdin: Uint8Array;
  /** Milliseconds. */
  timeout: number;
  /** Bytes to keep of stdout, and of stderr. */
  output: number;
  /** Bytes of a stream after which the command is killed. */
  wasted: number;
}

export interface CommandAnswer {
  /** One byte more than `output` if there was more. */
  stdout: Buffer;
  stderr: Buffer;
  exitCode: number;
  timedOut: boolean;
}

/** Folders of the machine for what a command writes. Memory comes first: the disk may be full. */
const folders = ['/dev/shm', '/tmp'];

/** Programs of the scripts. Debian's essential packages and busybox have them. */
const programs = 'base64 cat head mkdir mkfifo rm sed setsid sleep stat';

/** Writes `ready`, or why commands cannot run in the machine. */
export const prepareScript = `for p in ${programs}; do
  command -v $p > /dev/null 2>&1 || { echo "its image lacks the program $p"; exit; }
done
mkdir -p ${workFolder} 2> /dev/null || sudo -n mkdir -p ${workFolder} 2> /dev/null
[ -w ${workFolder} ] || sudo -n chown "$(id -u)" ${workFolder} 2> /dev/null
[ -w ${workFolder} ] || { echo "its user cannot write the folder ${workFolder}: make the folder in the image"; exit; }
echo ready`;

/** Where the machine must have a file before the script begins, unless it is part of the script. */
export function uploadPath({ id }: MachineCommand, what: 'script' | 'stdin'): string {
  return `/tmp/.toolenv-${id}.${what}`;
}

/** @param uploaded Which files are at their {@link uploadPath}. */
export function commandScript(
  command: MachineCommand,
  uploaded: { script?: boolean; stdin?: boolean } = {},
): string {
  const { id, script, stdin, timeout, output, wasted } = command;
  const given = (what: 'script' | 'stdin', content: string | Uint8Array) => {
    const path = uploadPath(command, what);
    return uploaded[what] ? `mv ${path} $d/${what}` : `echo ${base64(content)} | base64 -d > $d/${what}`;
  };
  const refusal = base64('sandbox: no process can be started: the disk is full\n');
  // In dash and busybox, blocks of 512 bytes; in bash, of 1024.
  const blocks = Math.ceil(wasted / 512);
  const shell =
    's=$(cat "$1"); command -v bash > /dev/null 2>&1 && exec bash -c "$s" bash; exec sh -c "$s" sh';
  const watch = 'sleep "$1"; : > "$2/late"; kill -9 "-$3" || kill -9 "$3"';
  return `exec 3>&1 < /dev/null > /dev/null 2>&1
for d in ${folders.join(' ')} none; do d=$d/.toolenv-${id}; mkdir $d && break; done
mkfifo $d/o $d/e && ${given('script', script)} && ${given('stdin', stdin)} && : > $d/out && : > $d/err || {
  rm -rf $d
  printf '%s\\n' '${id} 126 0' - ${refusal} ${id} >&3
  exit 0
}
exec 7< $d/out 8< $d/err
keep() {
  ulimit -c 0
  (ulimit -f ${blocks}; exec cat >> $d/$1) || { kill -0 $$ && read -r p < $d/pid && kill -9 -$p; }
  : > $d/$1.end
  # A process in the background may go on writing.
  exec cat
}
exec 5<> $d/o 6<> $d/e
(keep out) < $d/o 3>&- 5>&- 6>&- 7<&- 8<&- &
(keep err) < $d/e 3>&- 5>&- 6>&- 7<&- 8<&- &
export HOME=${workFolder} LANG=C.UTF-8
setsid sh -c ${quoted(shell)} sh $d/script < $d/stdin > $d/o 2> $d/e 3>&- 5>&- 6>&- 7<&- 8<&- &
p=$!
echo $p > $d/pid
exec 5>&- 6>&-
setsid sh -c ${quoted(watch)} sh ${(timeout / 1000).toFixed(3)} $d $p 3>&- 7<&- 8<&- &
w=$!
wait $p
c=$?
kill -9 -$w || kill -9 $w
n=0
until [ -e $d/out.end ] && [ -e $d/err.end ] || [ $n -ge 10 ]; do n=$((n + 1)); sleep 0.01; done
t=0
[ -e $d/late ] && t=1 c=124
rm -rf $d
{
  echo ${id} $c $t
  head -c ${output + 1} <&7 | base64
  echo -
  head -c ${output + 1} <&8 | base64
  echo ${id}
} >&3
exit 0
`;
}

/** Kills a command that runs, or begins soon. Its answer arrives as usual. */
export function killScript(id: string): string {
  const reads = folders.map((folder) => `read -r p < ${folder}/.toolenv-${id}/pid`).join(' || ');
  return `{ n=0; until ${reads}; do [ $n -ge 30 ] && exit 0; n=$((n + 1)); sleep 0.1; done
kill -9 -$p || kill -9 $p; } > /dev/null 2>&1; exit 0`;
}

/**
 * Reads lines: id, exit code and whether the time was over; stdout in base64; `-`; stderr in base64; id.
 * @returns `undefined` if the output is not a whole answer to the command.
 */
export function readAnswer(id: string, output: string): CommandAnswer | undefined {
  const head = output.indexOf('\n');
  const middle = output.indexOf('\n-\n', head);
  const end = output.lastIndexOf('\n');
  const [, exitCode, timedOut] = /^(\d+) ([01])$/.exec(output.slice(id.length + 1, head)) ?? [];
  if (!output.startsWith(id) || output.slice(end + 1) !== id || exitCode === undefined || middle < 0)
    return undefined;
  return {
    stdout: Buffer.from(output.slice(head, middle), 'base64'),
    stderr: Buffer.from(output.slice(middle + 2, end), 'base64'),
    exitCode: Number(exitCode),
    timedOut: timedOut === '1',
  };
}

function base64(content: string | Uint8Array): string {
  return Buffer.from(content as Uint8Array).toString('base64');
}
