/** What servers of many kinds write to stderr when they fail, and the error that explains it. */
import { describe, expect, test } from 'vitest';
import { lastError } from '../../src/client/greeting.ts';

const frames = (count: number) =>
  Array.from({ length: count }, (_, i) => `    at step${i} (/opt/server/lib/file${i}.js:${i}:7)`).join('\n');
const pythonFrames = (count: number) =>
  Array.from(
    { length: count },
    (_, i) => `  File "/opt/server/file${i}.py", line ${i}, in step${i}\n    step()`,
  ).join('\n');

describe('Python', () => {
  test.each([
    ['a class with a module', 'sqlite3.OperationalError: unable to open database file'],
    ['a class without the word error', 'zipfile.BadZipFile: File is not a zip file'],
    ['a class without a message', 'NotImplementedError'],
  ])('the exception of a traceback: %s', (_, exception) => {
    const stderr = `starting\nTraceback (most recent call last):\n${pythonFrames(60)}\n${exception}\n`;
    expect(lastError(stderr)).toBe(exception);
  });

  test('the fields of a pydantic error belong to it, and what is logged afterwards does not', () => {
    const stderr = `Traceback (most recent call last):
${pythonFrames(3)}
pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings
api_key
  Field required [type=missing, input_value={}, input_type=dict]
2026-11-22 10:00:00,000 - server - INFO - shutting down
INFO:     Finished server process [12]
`;
    expect(lastError(stderr)).toBe(
      'pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings api_key ' +
        'Field required [type=missing, input_value={}, input_type=dict]',
    );
  });

  test('the exception inside a group', () => {
    const stderr = `  + Exception Group Traceback (most recent call last):
  |   File "/opt/server.py", line 3, in <module>
  |     run()
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/opt/server.py", line 9, in step
    |     connect()
    | ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 5432)
    +------------------------------------
`;
    expect(lastError(stderr)).toBe(
      "ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 5432)",
    );
  });

  test('not what the end of the pipe or Ctrl-C causes', () => {
    const after = [
      `Traceback (most recent call last):\n${pythonFrames(2)}\nKeyboardInterrupt`,
      `Traceback (most recent call last):\n${pythonFrames(2)}\nBrokenPipeError: [Errno 32] Broken pipe`,
      "Exception ignored in: <_io.TextIOWrapper name='<stdout>'>\nBrokenPipeError: [Errno 32] Broken pipe",
    ];
    for (const each of after) {
      const stderr = `Traceback (most recent call last):\n${pythonFrames(2)}\nKeyError: 'DATABASE_URL'\n${each}\n`;
      expect(lastError(stderr)).toBe("KeyError: 'DATABASE_URL'");
    }
  });

  test('argparse', () => {
    const stderr =
      'usage: server [-h] --db-path DB_PATH\nserver: error: the following arguments are required: --db-path\n';
    expect(lastError(stderr)).toBe('server: error: the following arguments are required: --db-path');
  });
});

describe('Node', () => {
  test('an error before a long stack', () => {
    const stderr = `/opt/server/index.js:10
  throw new Error('API_KEY is not set');
        ^

Error: API_KEY is not set
${frames(40)}

Node.js v20.20.2
`;
    expect(lastError(stderr)).toBe('Error: API_KEY is not set');
  });

  test('a message of several lines', () => {
    const stderr = `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/opt/nothing.js'
Require stack:
- /opt/server.js
${frames(8)} {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
`;
    expect(lastError(stderr)).toBe(
      "Error: Cannot find module '/opt/nothing.js' Require stack: - /opt/server.js",
    );
  });

  test('the cause of an error', () => {
    const stderr = `Fatal error: Error: cannot start
${frames(3)} {
  [cause]: Error: connect ECONNREFUSED 127.0.0.1:5432
      at TCPConnectWrap.afterConnect (node:net:1555:16) {
    errno: -111
  }
}
closing
`;
    expect(lastError(stderr)).toBe(
      'Fatal error: Error: cannot start (Error: connect ECONNREFUSED 127.0.0.1:5432)',
    );
  });

  test('in colours', () => {
    expect(lastError('\x1b[31mTypeError [ERR_INVALID_URL]: Invalid URL\x1b[39m\n')).toBe(
      'TypeError [ERR_INVALID_URL]: Invalid URL',
    );
  });
});

describe('npm', () => {
  const end = `npm error Lifecycle script \`start\` failed with error:
npm error code 1
npm error path /opt/server
npm error workspace server@1.0.0
npm error A complete log of this run can be found in: /home/me/.npm/_logs/2026-11-22T10_00_00_000Z-debug-0.log
npm notice New major version of npm available! 10.8.2 -> 12.0.1
`;

  test('the server’s own error, before what npm says', () => {
    expect(
      lastError(`npm warn exec The following package was not found\nError: no licence\n${frames(4)}\n${end}`),
    ).toBe('Error: no licence');
  });

  test('npm’s error, if the server did not start', () => {
    const stderr = `npm error code E404
npm error 404 Not Found - GET https://registry.example/@scope%2fno-server - Not found
npm error 404
npm error 404  The requested resource '@scope/no-server@*' could not be found
npm error A complete log of this run can be found in: /home/me/.npm/_logs/debug-0.log
`;
    expect(lastError(stderr)).toMatch(/^404 Not Found - GET https:\/\/registry\.example\/@scope%2fno-server/);
  });
});

describe('other programs', () => {
  test.each([
    [
      'Go',
      'starting\npanic: dial tcp: no route to host\n\ngoroutine 1 [running]:\nmain.main()\n',
      'panic: dial tcp: no route to host',
    ],
    [
      'Rust',
      "thread 'main' panicked at src/main.rs:4:5:\nno configuration\nnote: run with `RUST_BACKTRACE=1`\n",
      "thread 'main' panicked at src/main.rs:4:5: no configuration",
    ],
    [
      'uv',
      'Resolving\n  × No solution found when resolving tool dependencies:\n  ╰─▶ Because nothing was found, it cannot be used.\n',
      '× No solution found when resolving tool dependencies: ╰─▶ Because nothing was found, it cannot be used.',
    ],
    ['sh', 'sh: 1: mcp-server-none: not found\n', 'sh: 1: mcp-server-none: not found'],
    [
      'a log',
      '2026-11-22 10:00:00 [ERROR] store: the disk is full\n2026-11-22 10:00:01 [INFO] bye\n',
      '2026-11-22 10:00:00 [ERROR] store: the disk is full',
    ],
    [
      'a log of JSON',
      '{"level":"error","msg":"the disk is full"}\n{"level":"info","msg":"bye"}\n',
      '{"level":"error","msg":"the disk is full"}',
    ],
  ])('%s', (_, stderr, said) => {
    expect(lastError(stderr)).toBe(said);
  });

  test('an error before a long log', () => {
    const log = Array.from({ length: 500 }, (_, i) => `[2026-11-22T10:00:00] request ${i} took 3 ms`).join(
      '\n',
    );
    expect(lastError(`Error: the store is gone\n${log}\n`)).toBe('Error: the store is gone');
  });

  test('without an error, the last lines', () => {
    expect(lastError('I am not a server\nbye\n')).toBe('I am not a server bye');
    expect(lastError(`${'a '.repeat(5_000)}the end\n`)).toHaveLength(1_000);
    expect(lastError(' \n\n')).toBe('');
  });

  test('a long error is cut at its end', () => {
    const said = lastError(`Error: begins here ${'x'.repeat(5_000)}`);
    expect(said).toHaveLength(1_000);
    expect(said).toMatch(/^Error: begins here x+…$/);
  });
});
