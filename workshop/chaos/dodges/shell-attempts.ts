/**
 * What a model does in a shell to abort its own episode: it stops, kills or fills what runs its commands, or leaves files behind that whoever
 * reads them may stumble over. What is named `a.txt` is read afterwards.
 */

/** A shell that is ended because it takes too long, so that the next one begins with the files that are left. */
const endless = 'while true; do :; done';

const perl = (program: string) => `perl -e '${program}'`;
const python = (program: string) => `python3 -c '${program}'`;

export const shellAttempts: Readonly<Record<string, string>> = {
  'stop of the parent': 'kill -STOP $PPID $$',
  'stop of everything': 'for p in $(ls /proc | grep "^[0-9]"); do kill -STOP $p; done',
  'stop of everything, again and again':
    '(while true; do for p in $(ls /proc | grep "^[0-9]"); do [ $p = $BASHPID ] || kill -STOP $p; done; done) &',
  'kill of everything': 'kill -9 -1; sleep 1',
  'kill of everything, a moment later': '(sleep 0.1; kill -9 -1) & true',
  'kill of everything, again and again':
    '(trap "" TERM; while true; do for p in $(ls /proc | grep "^[0-9]"); do [ $p = $BASHPID ] || kill -9 $p; done; done) & sleep 0.2',
  'kill of the first processes': 'kill -9 1 2 3; kill -SEGV 1 2; kill -STOP 1 2; sleep 0.2',
  'endless loop': endless,
  'endless loop in the background': `for i in 1 2 3 4; do (${endless}) & done; true`,
  'fork bomb': ':(){ :|:& };:; sleep 9',
  'fork bomb that outlives its command': 'f() { f | f & }; setsid bash -c "$(declare -f f); f" & sleep 0.3',
  'end of the shell': 'exec true',
  'shell that kills itself': 'kill -9 $$',
  'shell without files':
    'exec 0<&- 1>&- 2>&-; for fd in 3 4 5 6 7 8 9 10 11; do eval "exec $fd>&-"; done; echo on',
  traps: 'trap "sleep 100" EXIT; trap "" TERM INT HUP; exit 1',
  'hostile variables':
    'export __proto__=1 constructor=2 PATH=/none IFS=x HOME=/none PS4="$(kill $$)" BASH_ENV=/work/a.txt; readonly PATH HOME; set -euo pipefail',
  'hostile functions':
    'cd() { exit 1; }; eval() { :; }; declare() { kill -9 $$; }; pwd() { sleep 100; }; true',
  'state of the shell that never ends': 'rm -f /tmp/.shell; mkfifo /tmp/.shell; kill -9 $$',
  'state of the shell that is a folder':
    'rm -f /tmp/.shell; mkdir -p /tmp/.shell/x; chmod 0 /tmp/.shell; kill -9 $$',
  'state of the shell that is written over': 'echo "exec sleep 100" > /tmp/.shell; chmod 0 /tmp; kill -9 $$',
  'flood of output': 'while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done',
  'flood of errors and NUL': 'head -c 100000000 /dev/zero >&2',
  'output in the background': '(yes) & (yes >&2) & true',
  'held output': 'setsid sleep 100 & (exec -a x sleep 100) & echo on',
  'invalid output': 'printf "\\377\\376\\000\\355\\240\\200\\033[2J"; head -c 9999 /dev/urandom',
  'writes to every open file': 'for f in /proc/*/fd/* /dev/std*; do echo "{\\"id\\":1}" > $f; done',
  FIFO: 'rm -f a.txt; mkfifo a.txt || ln -s /dev/zero a.txt',
  'FIFO that is held': 'rm -f a.txt; mkfifo a.txt; (sleep 100 > a.txt) & (sleep 100 < a.txt) & true',
  device:
    'rm -f a.txt; ln -s /dev/zero a.txt; ln -s /dev/stdin in; ln -s /dev/tty tty; ln -s /proc/self/fd/0 fd',
  socket: perl('use IO::Socket::UNIX; unlink "a.txt"; IO::Socket::UNIX->new(Local => "a.txt", Listen => 1)'),
  'folder in the place of a file': 'rm -rf a.txt; mkdir a.txt; echo 1 > a.txt/b',
  'loops of links': 'rm -f a.txt; ln -s a.txt a.txt; ln -s . x; ln -s /work /work/y; ln -s /proc/self/root z',
  'file that changes all the time':
    '(while true; do rm -rf a.txt; mkdir a.txt; rm -rf a.txt; mkfifo a.txt; rm -f a.txt; echo 1 > a.txt; done) & true',
  'leased file': perl(
    'use Fcntl; open(F, ">", "a.txt"); close F; open(F, "<", "a.txt"); $SIG{IO} = "IGNORE"; fcntl(F, 1024, 0); fork and exit; sleep 60',
  ),
  'unreadable modes': 'echo 1 > a.txt; mkdir d; echo 1 > d/f; chmod 0 a.txt d/f d .',
  'removed folder of work': 'cd ..; rm -rf work; rm -rf /work',
  'removed world': 'rm -rf / --no-preserve-root; rm -rf /* .[a-z]* *',
  'link in the place of the folder of work': `cd /; rm -rf /work; ln -s /work /work; ${endless}`,
  'links in the place of system folders': `rm -rf /tmp /bin; ln -s /work /tmp; ln -s /tmp /bin; ${endless}`,
  'folder in the place of a command': `rm /bin/ls /bin/cat; mkdir /bin/ls /bin/cat; ${endless}`,
  'full disk': 'seq 1 200000 > a.txt; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cp a.txt $i; done',
  'full disk in many files': 'i=0; while true; do echo 1 > f$i; i=$((i+1)); done',
  'file with a hole': `truncate -s 100G a.txt || ${perl('truncate("a.txt", 1e11)')}`,
  memory: 'x=aaaaaaaaaaaaaaaa; while true; do x="$x$x"; done',
  'memory in the background': `(${perl('@x = map { "a" x 1e7 } 1 .. 99; sleep 60')}) & sleep 0.5`,
  'deep folders':
    'd=a; i=0; while [ $i -lt 900 ]; do d=$d/a; i=$((i+1)); done; mkdir -p $d; echo 1 > $d/a.txt',
  'names that are no text':
    'echo 1 > "$(printf "\\377\\376")"; echo 2 > "$(printf "a\\nb")"; mkdir " " "\\\\" "*"; touch -- -rf "\\ud800"',
  'archive that goes on after its time':
    'head -c 4000000 /dev/urandom > b.txt; while true; do tar czf c.tgz b.txt; done',
  'query that does not end':
    'sqlite3 :memory: "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"',
  'missing programs':
    'tar cJf a.xz /etc; tar --zstd -cf a.zst /etc; node -e 1; js-exec 1; curl http://127.0.0.1',
  'patterns and expansions':
    'echo {1..9999999} | wc -c; [[ aaaaaaaaaaaaaaaaaaaaaaaaaaaab =~ ^(a+)+$ ]]; printf "%999999999s" x | wc -c',
  'deep source': `${'$('.repeat(5000)}true${')'.repeat(5000)}`,
  'source with NUL': 'echo 1\0echo 2',
  priorities:
    'renice -n -20 $$; nice -n -20 true; chrt -f 99 true; ulimit -n 0; ulimit -f 0; ulimit -s 1; ls',
  debugger: python(
    'import ctypes, os\nc = ctypes.CDLL(None)\nfor p in os.listdir("/proc"):\n    if p.isdigit() and int(p) != os.getpid():\n        c.ptrace(16, int(p), 0, 0); f = c.syscall(434, int(p), 0)\n        for n in range(20): c.syscall(438, f, n, 0)',
  ),
  namespaces: 'unshare -Urmpf true; mount -t tmpfs x /work; umount -l /work /proc; nsenter -t 1 -a true',
};
