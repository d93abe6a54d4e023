/** The servers of npm that are tried. */
import { join } from 'node:path';
import { sql, type TriedCalls, type TriedServer } from './tried-server.ts';

const official = '@modelcontextprotocol/server';

const everythingCalls: TriedCalls = {
  valid: () => ({ tool: 'get-sum', arguments: { a: 17, b: 25 }, gives: /17 and 25 is 42/ }),
  invalid: { tool: 'get-sum', arguments: { a: 'one', b: 2 } },
  failing: () => ({
    tool: 'get-resource-reference',
    arguments: { resourceType: 'Text', resourceId: -1 },
    gives: /Invalid resourceId/,
  }),
};

export const npmServers: readonly TriedServer[] = [
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
];
