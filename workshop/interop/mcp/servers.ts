/** The servers that `npm run interop -- mcp` tries, with a call that works, a call that breaks the schema, and a call that fails. */
import { join } from 'node:path';
import type { McpEndpoint } from '@toolenv/mcp';
import type { Place } from './place.ts';

export interface TriedCall {
  tool: string;
  arguments: Record<string, unknown>;
  /** Matches the text of the result. */
  gives: RegExp;
}

export interface TriedServer {
  /** Name of its row. */
  name: string;
  /** Its package, or `own` for a server of this repository. */
  package: string;
  from: 'npm' | 'PyPI' | 'PyPI, mcp 1' | 'own';
  start(place: Place): McpEndpoint | Promise<McpEndpoint>;
  valid?(place: Place): TriedCall;
  invalid?: { tool: string; arguments: Record<string, unknown> };
  failing?(place: Place): TriedCall;
  /** The server cannot be used. Matches the error. */
  fails?: RegExp;
  /** What its users should know. */
  note?: string;
}

const modernServer = join(import.meta.dirname, '../../../packages/mcp/test/modern-server.js');
const fastMcp = join(import.meta.dirname, 'fastmcp_server.py');
const official = '@modelcontextprotocol/server';

const everythingCalls: Pick<TriedServer, 'valid' | 'invalid' | 'failing'> = {
  valid: () => ({ tool: 'get-sum', arguments: { a: 17, b: 25 }, gives: /17 and 25 is 42/ }),
  invalid: { tool: 'get-sum', arguments: { a: 'one', b: 2 } },
  failing: () => ({
    tool: 'get-resource-reference',
    arguments: { resourceType: 'Text', resourceId: -1 },
    gives: /Invalid resourceId/,
  }),
};
const shopCalls: Pick<TriedServer, 'valid' | 'invalid' | 'failing'> = {
  valid: () => ({ tool: 'price', arguments: { item: 'apple', count: 3 }, gives: /"total":\s*6/ }),
  invalid: { tool: 'price', arguments: { count: 'many' } },
  failing: () => ({ tool: 'price', arguments: { item: 'pear' }, gives: /no such item: pear/ }),
};
const modernCalls: Pick<TriedServer, 'valid' | 'invalid' | 'failing'> = {
  valid: () => ({ tool: 'echo', arguments: { message: 'hello' }, gives: /^hello$/ }),
  failing: () => ({ tool: 'fail', arguments: {}, gives: /no disk/ }),
};
const sql = (query: string, gives: RegExp, tool = 'query', name = 'query'): TriedCall => ({
  tool,
  arguments: { [name]: query },
  gives,
});

export const servers: readonly TriedServer[] = [
  {
    name: 'everything',
    package: `${official}-everything`,
    from: 'npm',
    start: ({ npm }) => npm('mcp-server-everything'),
    ...everythingCalls,
  },
  {
    name: 'everything over HTTP',
    package: `${official}-everything`,
    from: 'npm',
    start: async ({ npm, listen }) => {
      const port = await listen((port) => ({
        ...npm('mcp-server-everything', 'streamableHttp'),
        env: { PORT: `${port}` },
      }));
      return { url: `http://127.0.0.1:${port}/mcp` };
    },
    ...everythingCalls,
  },
  {
    name: 'everything over SSE',
    package: `${official}-everything`,
    from: 'npm',
    start: async ({ npm, listen }) => {
      const port = await listen((port) => ({
        ...npm('mcp-server-everything', 'sse'),
        env: { PORT: `${port}` },
      }));
      return { url: `http://127.0.0.1:${port}/sse` };
    },
    ...everythingCalls,
  },
  {
    name: 'filesystem',
    package: `${official}-filesystem`,
    from: 'npm',
    start: ({ npm, folder }) => npm('mcp-server-filesystem', folder),
    valid: ({ folder }) => ({
      tool: 'read_text_file',
      arguments: { path: join(folder, 'note.txt') },
      gives: /a note/,
    }),
    invalid: { tool: 'read_text_file', arguments: { path: 7 } },
    failing: () => ({
      tool: 'read_text_file',
      arguments: { path: '/etc/passwd' },
      gives: /outside allowed directories/,
    }),
  },
  {
    name: 'memory',
    package: `${official}-memory`,
    from: 'npm',
    start: ({ npm, folder }) => ({
      ...npm('mcp-server-memory'),
      env: { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') },
    }),
    valid: () => ({
      tool: 'create_entities',
      arguments: { entities: [{ name: 'Ada', entityType: 'person', observations: [] }] },
      gives: /Ada/,
    }),
    invalid: { tool: 'create_entities', arguments: { entities: 'Ada' } },
    failing: () => ({
      tool: 'add_observations',
      arguments: { observations: [{ entityName: 'Bo', contents: ['is away'] }] },
      gives: /Entity with name Bo not found/,
    }),
  },
  {
    name: 'sequential-thinking',
    package: `${official}-sequential-thinking`,
    from: 'npm',
    start: ({ npm }) => npm('mcp-server-sequential-thinking'),
    valid: () => ({
      tool: 'sequentialthinking',
      arguments: { thought: 'first', thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true },
      gives: /"thoughtNumber":\s*1/,
    }),
    invalid: { tool: 'sequentialthinking', arguments: { thought: 'first' } },
    note: 'No call with valid arguments fails.',
  },
  {
    name: 'postgres',
    package: `${official}-postgres`,
    from: 'npm',
    start: ({ npm, postgresUrl }) => npm('mcp-server-postgres', postgresUrl),
    valid: () => sql('SELECT 17 + 25 AS sum', /"sum":\s*42/, 'query', 'sql'),
    invalid: { tool: 'query', arguments: { sql: 7 } },
    failing: () => sql('SELECT * FROM nowhere', /relation \\?"nowhere\\?" does not exist/, 'query', 'sql'),
    note: 'Tried with PGlite. The tool reports a wrong query by a JSON-RPC error.',
  },
  {
    name: 'dbhub',
    package: '@bytebase/dbhub',
    from: 'npm',
    start: ({ npm, postgresUrl }) =>
      npm('dbhub', '--transport', 'stdio', '--dsn', `${postgresUrl}?sslmode=disable`),
    valid: () => sql('SELECT 17 + 25 AS sum', /"sum":\s*42/, 'execute_sql', 'sql'),
    invalid: { tool: 'execute_sql', arguments: { sql: 7 } },
    failing: () =>
      sql('SELECT * FROM nowhere', /relation \\?"nowhere\\?" does not exist/, 'execute_sql', 'sql'),
    note: 'Tried with PGlite.',
  },
  {
    name: 'pdf',
    package: `${official}-pdf`,
    from: 'npm',
    start: ({ npm, folder }) => npm('mcp-pdf-server', '--stdio', join(folder, 'note.pdf')),
    valid: () => ({ tool: 'list_pdfs', arguments: {}, gives: /note\.pdf/ }),
    invalid: { tool: 'read_pdf_bytes', arguments: { url: 7 } },
    failing: () => ({
      tool: 'read_pdf_bytes',
      arguments: { url: 'file:///etc/none.pdf' },
      gives: /not|denied|allowed/i,
    }),
  },
  {
    name: 'desktop-commander',
    package: '@wonderwhy-er/desktop-commander',
    from: 'npm',
    start: ({ npm, folder }) => ({ ...npm('desktop-commander'), env: { HOME: folder } }),
    valid: () => ({
      tool: 'start_process',
      arguments: { command: 'echo $((17 + 25)); sleep 600', timeout_ms: 1_000 },
      gives: /42/,
    }),
    invalid: { tool: 'read_file', arguments: { path: 7 } },
    failing: ({ folder }) => ({
      tool: 'read_file',
      arguments: { path: join(folder, 'nowhere.txt') },
      gives: /ENOENT|not found|no such/i,
    }),
  },
  {
    name: 'eslint',
    package: '@eslint/mcp',
    from: 'npm',
    start: ({ npm, folder }) => ({ ...npm('mcp'), cwd: folder }),
    valid: ({ folder }) => ({
      tool: 'lint-files',
      arguments: { filePaths: [join(folder, 'bad.js')] },
      gives: /no-undef/,
    }),
    invalid: { tool: 'lint-files', arguments: { filePaths: [] } },
    failing: ({ folder }) => ({
      tool: 'lint-files',
      arguments: { filePaths: [join(folder, 'nowhere.js')] },
      gives: /No files matching/,
    }),
  },
  {
    name: 'commands',
    package: 'mcp-server-commands',
    from: 'npm',
    start: ({ npm }) => npm('mcp-server-commands'),
    valid: () => ({ tool: 'run_command', arguments: { command: 'echo $((17 + 25))' }, gives: /42/ }),
    invalid: { tool: 'run_command', arguments: { command: 7 } },
    failing: () => ({ tool: 'run_command', arguments: { command: 'exit 3' }, gives: /3/ }),
  },
  {
    name: 'git of cyanheads',
    package: '@cyanheads/git-mcp-server',
    from: 'npm',
    start: ({ npm, folder }) => ({ ...npm('git-mcp-server'), env: { HOME: folder } }),
    valid: ({ folder }) => ({
      tool: 'git_log',
      arguments: { path: join(folder, 'repository') },
      gives: /Add a bird/,
    }),
    invalid: { tool: 'git_log', arguments: { maxCount: 'many' } },
    failing: ({ folder }) => ({
      tool: 'git_log',
      arguments: { path: folder },
      gives: /not a git repository/i,
    }),
  },
  {
    name: 'drawio',
    package: '@drawio/mcp',
    from: 'npm',
    start: ({ npm }) => npm('drawio-mcp'),
    valid: ({ folder }) => ({
      tool: 'list_pages',
      arguments: { path: join(folder, 'birds.drawio') },
      gives: /Albatross/,
    }),
    invalid: { tool: 'list_pages', arguments: { path: 7 } },
    failing: ({ folder }) => ({
      tool: 'list_pages',
      arguments: { path: join(folder, 'nowhere.drawio') },
      gives: /ENOENT|not found|no such/i,
    }),
    note: 'Its `search_shapes` downloads an index.',
  },
  {
    name: 'hello-world',
    package: 'mcp-hello-world',
    from: 'npm',
    start: ({ npm }) => npm('mcp-hello-world'),
    valid: () => ({ tool: 'add', arguments: { a: 17, b: 25 }, gives: /42/ }),
    invalid: { tool: 'add', arguments: { a: 'one', b: 2 } },
    note: 'No call with valid arguments fails.',
  },
  {
    name: 'context7',
    package: '@upstash/context7-mcp',
    from: 'npm',
    start: ({ npm }) => npm('context7-mcp'),
    invalid: { tool: 'resolve-library-id', arguments: { query: 7 } },
    failing: () => ({
      tool: 'query-docs',
      arguments: { libraryId: '/nobody/nothing', query: 'nothing' },
      gives: /./,
    }),
    note: 'Its calls need a service on the internet. Tried without: the service cannot be reached.',
  },
  {
    name: 'playwright',
    package: '@playwright/mcp',
    from: 'npm',
    start: ({ npm, folder }) => ({
      ...npm('playwright-mcp', '--headless', '--isolated'),
      env: { HOME: folder },
      cwd: folder,
    }),
    invalid: { tool: 'browser_navigate', arguments: { url: 7 } },
    failing: ({ pageUrl }) => ({
      tool: 'browser_navigate',
      arguments: { url: pageUrl },
      gives: /not found|install/i,
    }),
    note: 'Its calls need a browser. Tried without.',
  },
  {
    name: 'time',
    package: 'mcp-server-time',
    from: 'PyPI',
    start: ({ python }) => python('mcp-server-time'),
    valid: () => ({
      tool: 'convert_time',
      arguments: { source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Tokyo' },
      gives: /21:00/,
    }),
    invalid: { tool: 'convert_time', arguments: { time: '12:00' } },
    failing: () => ({ tool: 'get_current_time', arguments: { timezone: 'Mars/Base' }, gives: /Mars\/Base/ }),
  },
  {
    name: 'git',
    package: 'mcp-server-git',
    from: 'PyPI',
    start: ({ python, folder }) => python('mcp-server-git', '--repository', join(folder, 'repository')),
    valid: ({ folder }) => ({
      tool: 'git_log',
      arguments: { repo_path: join(folder, 'repository') },
      gives: /Add a bird/,
    }),
    invalid: { tool: 'git_log', arguments: { repo_path: 7 } },
    failing: ({ folder }) => ({
      tool: 'git_show',
      arguments: { repo_path: join(folder, 'repository'), revision: 'nowhere' },
      gives: /nowhere/,
    }),
  },
  {
    name: 'fetch',
    package: 'mcp-server-fetch',
    from: 'PyPI',
    start: ({ python }) => python('mcp-server-fetch', '--ignore-robots-txt', '--allow-private-ips'),
    valid: ({ pageUrl }) => ({ tool: 'fetch', arguments: { url: pageUrl }, gives: /Albatross/ }),
    invalid: { tool: 'fetch', arguments: { max_length: 10 } },
    failing: ({ pageUrl }) => ({ tool: 'fetch', arguments: { url: `${pageUrl}/none` }, gives: /404/ }),
  },
  {
    name: 'excel',
    package: 'excel-mcp-server',
    from: 'PyPI',
    start: ({ python, folder }) => ({ ...python('excel-mcp-server', 'stdio'), cwd: folder }),
    valid: ({ folder }) => ({
      tool: 'create_workbook',
      arguments: { path: join(folder, 'book.xlsx'), overwrite: true },
      gives: /book\.xlsx/,
    }),
    invalid: { tool: 'create_workbook', arguments: { path: 7 } },
    failing: ({ folder }) => ({
      tool: 'describe_workbook',
      arguments: { path: join(folder, 'nowhere.xlsx') },
      gives: /nowhere\.xlsx/,
    }),
  },
  {
    name: 'pdf of Python',
    package: 'pdf-mcp',
    from: 'PyPI',
    start: ({ python, folder }) => ({ ...python('pdf-mcp'), env: { HOME: folder }, cwd: folder }),
    valid: ({ folder }) => ({
      tool: 'pdf_read_all',
      arguments: { path: join(folder, 'note.pdf') },
      gives: /Albatross/,
    }),
    invalid: { tool: 'pdf_read_all', arguments: { path: 7 } },
    failing: ({ folder }) => ({
      tool: 'pdf_read_all',
      arguments: { path: join(folder, 'nowhere.pdf') },
      gives: /nowhere\.pdf|not found/i,
    }),
  },
  {
    name: 'FastMCP',
    package: 'fastmcp',
    from: 'PyPI',
    start: ({ python }) => python('python', fastMcp),
    ...shopCalls,
  },
  {
    name: 'FastMCP over HTTP',
    package: 'fastmcp',
    from: 'PyPI',
    start: async ({ python, listen }) => {
      const port = await listen((port) => python('python', fastMcp, String(port)));
      return { url: `http://127.0.0.1:${port}/mcp` };
    },
    ...shopCalls,
  },
  {
    name: 'sqlite',
    package: 'mcp-server-sqlite',
    from: 'PyPI, mcp 1',
    start: ({ olderPython, folder }) => olderPython('mcp-server-sqlite', '--db-path', join(folder, 'a.db')),
    valid: () => sql('SELECT 17 + 25 AS sum', /'sum': 42/, 'read_query'),
    invalid: { tool: 'read_query', arguments: { query: 7 } },
    failing: () => sql('SELECT * FROM nowhere', /no such table: nowhere/, 'read_query'),
  },
  {
    name: 'sqlite with mcp 2',
    package: 'mcp-server-sqlite',
    from: 'PyPI',
    start: ({ python, folder }) => python('mcp-server-sqlite', '--db-path', join(folder, 'b.db')),
    fails: /exited with code 1; its stderr says: AttributeError: 'Server' object has no attribute/,
    note: "It needs version 1 of the Python SDK: `uvx --with 'mcp<2' mcp-server-sqlite`.",
  },
  {
    name: 'duckdb',
    package: 'mcp-server-duckdb',
    from: 'PyPI, mcp 1',
    start: ({ olderPython, folder }) =>
      olderPython('mcp-server-duckdb', '--db-path', join(folder, 'a.duckdb')),
    valid: () => sql('SELECT 17 + 25 AS sum', /42/),
    invalid: { tool: 'query', arguments: { query: 7 } },
    failing: () => sql('SELECT * FROM nowhere', /nowhere/),
  },
  {
    name: 'calculator',
    package: 'mcp-server-calculator',
    from: 'PyPI, mcp 1',
    start: ({ olderPython }) => olderPython('mcp-server-calculator'),
    valid: () => ({ tool: 'calculate', arguments: { expression: '17 + 25' }, gives: /42/ }),
    invalid: { tool: 'calculate', arguments: { expression: 7 } },
    failing: () => ({ tool: 'calculate', arguments: { expression: '1 / 0' }, gives: /zero/ }),
  },
  {
    name: 'shell',
    package: 'mcp-shell-server',
    from: 'PyPI, mcp 1',
    start: ({ olderPython }) => ({ ...olderPython('mcp-shell-server'), env: { ALLOW_COMMANDS: 'ls,cat' } }),
    valid: ({ folder }) => ({
      tool: 'shell_execute',
      arguments: { command: ['cat', 'note.txt'], directory: folder },
      gives: /a note/,
    }),
    invalid: { tool: 'shell_execute', arguments: { command: 'ls' } },
    failing: ({ folder }) => ({
      tool: 'shell_execute',
      arguments: { command: ['rm', 'note.txt'], directory: folder },
      gives: /not allowed/i,
    }),
  },
  {
    name: 'text-editor',
    package: 'mcp-text-editor',
    from: 'PyPI, mcp 1',
    start: ({ olderPython }) => olderPython('mcp-text-editor'),
    valid: ({ folder }) => ({
      tool: 'get_text_file_contents',
      arguments: { files: [{ file_path: join(folder, 'note.txt'), ranges: [{ start: 1 }] }] },
      gives: /a note/,
    }),
    invalid: { tool: 'get_text_file_contents', arguments: { files: 'note.txt' } },
    failing: ({ folder }) => ({
      tool: 'get_text_file_contents',
      arguments: { files: [{ file_path: join(folder, 'nowhere.txt'), ranges: [{ start: 1 }] }] },
      gives: /nowhere\.txt/,
    }),
  },
  {
    name: 'a server of MCP 2026-07-28 only',
    package: '@modelcontextprotocol/server',
    from: 'own',
    start: () => ({ command: process.execPath, args: [modernServer] }),
    ...modernCalls,
  },
  {
    name: 'a server of MCP 2026-07-28 only over HTTP',
    package: '@modelcontextprotocol/server',
    from: 'own',
    start: async ({ listen }) => {
      const port = await listen((port) => ({
        command: process.execPath,
        args: [modernServer, 'http'],
        env: { PORT: `${port}` },
      }));
      return { url: `http://127.0.0.1:${port}/mcp` };
    },
    ...modernCalls,
  },
];
