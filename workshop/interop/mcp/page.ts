/** toPage: the page of the servers that were tried, from the record of the last run. */
import type { Tried } from './try-server.ts';

export function toPage(tried: readonly Tried[]): string {
  const works = tried.filter(({ error }) => error === undefined);
  const packages = new Set(tried.filter(({ from }) => from !== 'own').map((each) => each.package));
  const noted = tried.filter(({ note, error }) => note !== undefined || error !== undefined);
  return `# MCP servers that were tried

${works.length} of ${tried.length} servers work with toolenv: ${packages.size} packages from npm and PyPI, and two servers of this repository that speak MCP
2026-07-28 only. \`npm run interop -- mcp --write\` starts each server, lists its tools with \`toolenv tools --mcp\` and \`connectMcp\`, makes three
calls, closes it, and writes this page.

- **MCP**: the revision that was negotiated, and after a comma the revision that a server of MCP 2026-07-28 speaks with older clients.
- **Works**: a call with right arguments gives the expected result.
- **Wrong arguments**: the tool's schema refuses them, which is the model's mistake. The server gets them all the same: "schema and server" means that it
  refuses them too, "schema" that it does not.
- **A call that fails**: "error" is a result with \`isError\` or a JSON-RPC error, "text" an ordinary result that says so. The model reads the text in both cases, and
  the server stays connected.
- **Ends**: after closing, no process is left. Servers over HTTP are not started by toolenv.

| server | package | version | from | transport | MCP | tools | works | wrong arguments | a call that fails | ends |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${tried.map(row).join('\n')}

## What a model reads when a call fails

| server | text |
| --- | --- |
${tried.flatMap(({ name, failing }) => (failing ? [`| ${name} | ${code(failing.text)} |`] : [])).join('\n')}

## Notes

${noted.map(({ name, error, note }) => `- **${name}**: ${[error && `cannot be used: ${code(error)}.`, note].filter(Boolean).join(' ')}`).join('\n')}
`;
}

function row(each: Tried): string {
  const { name, version, from, transport, revision, olderRevision, tools, valid, invalid, failing, ended } =
    each;
  const cells = [
    name,
    each.from === 'own' ? `own, with ${each.package}` : each.package,
    version,
    from === 'own' ? '' : from,
    transport,
    [revision, olderRevision].filter((each) => each !== undefined).join(', '),
    tools ?? '',
    each.error === undefined ? yes(valid) : 'no',
    invalid ?? '',
    failing?.as ?? '',
    yes(ended),
  ];
  return `| ${cells.join(' | ')} |`;
}

function yes(value: boolean | undefined): string {
  return value === undefined ? '' : value ? 'yes' : 'no';
}

/** Code in a cell of a table. */
function code(text: string): string {
  return `\`\`${text.replaceAll('`', "'").replaceAll('|', '\\|')}\`\``;
}
