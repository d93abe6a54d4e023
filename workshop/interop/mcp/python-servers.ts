/** The servers of PyPI that are tried. */
import { join } from 'node:path';
import { sql, type TriedCalls, type TriedServer } from './tried-server.ts';

const fastMcp = join(import.meta.dirname, 'fastmcp_server.py');

const shopCalls: TriedCalls = {
  valid: () => ({ tool: 'price', arguments: { item: 'apple', count: 3 }, gives: /"total":\s*6/ }),
  invalid: { tool: 'price', arguments: { count: 'many' } },
  failing: () => ({ tool: 'price', arguments: { item: 'pear' }, gives: /no such item: pear/ }),
};

export const pythonServers: readonly TriedServer[] = [
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
];
