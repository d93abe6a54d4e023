/** Attacks by MCP servers. */
import { join } from 'node:path';
import { dispatch } from '@toolenv/core/tools';
import { connectMcp, type McpConnection, type McpOptions } from '@toolenv/mcp';
import { type Attack, holds, thrown, within } from './attack.ts';

export const mcp: Attack[] = [
  {
    name: 'wide tool',
    attack: 'an MCP server lists a tool with 200,000 properties, all of them required',
    expected: 'the tool is left out within 20 seconds, with one warning, and the others stay',
    async run() {
      const { connection, warnings } = await within(20_000, connected('wide'));
      const names = connection.tools.map(({ name }) => name).join();
      await connection.close();
      holds(names === 'plain,storm,wait', `it offers ${names}`);
      holds(warnings.length === 1, `${warnings.length} warnings`);
      const taken = process.resourceUsage().maxRSS / 1_024;
      holds(taken < 1_024, `the process took ${taken.toFixed(0)} MB`);
    },
  },
  {
    name: 'storm of changes',
    attack: 'an MCP server reports 2,000 changes of its list, and more after each new list; a call has 2 s',
    expected: 'the call ends in time, and the lists come at most ten times a second',
    async run() {
      let lists = 0;
      const { connection } = await connected('storm', { onToolsChanged: () => lists++ });
      const begun = performance.now();
      await called(connection, 'storm');
      await thrown(() => called(connection, 'wait'));
      const seconds = (performance.now() - begun) / 1_000;
      await connection.close();
      holds(seconds < 4, `the calls took ${seconds.toFixed(1)} s`);
      holds(lists >= 1 && lists <= 10 * seconds + 2, `${lists} lists in ${seconds.toFixed(1)} s`);
    },
  },
  {
    name: 'endless list',
    attack: 'an MCP server names a next page after each page of its tools, each with the same tool',
    expected: 'connecting fails before its time is over, with one line',
    async run() {
      const warnings: string[] = [];
      const onWarning = (message: string) => warnings.push(message);
      const error = await within(
        20_000,
        thrown(() => connected('endless', { onWarning })),
      );
      holds(String(error).includes('listMaxPages (1000)'), `it says: ${error}`);
      holds(warnings.length <= 1, `${warnings.length} warnings`);
    },
  },
  {
    name: 'slow start',
    slow: true,
    attack: 'an MCP server needs 12 s to start, of the 30 that it has',
    expected: 'it is used',
    async run() {
      const { connection } = await connected('slow', { initialize: false });
      const text = await called(connection, 'plain');
      await connection.close();
      holds(text === 'done', `it answers ${text}`);
    },
  },
];

async function connected(
  way: string,
  options: McpOptions = {},
): Promise<{ connection: McpConnection; warnings: string[] }> {
  const warnings: string[] = [];
  const server = join(import.meta.dirname, 'hostile-server.js');
  const connection = await connectMcp(
    { command: process.execPath, args: [server, way] },
    { initialize: true, onWarning: (message) => warnings.push(message), ...options },
  );
  return { connection, warnings };
}

/** The text of a call that has two seconds. */
async function called({ tools }: McpConnection, name: string): Promise<string> {
  const limits = { maxTurns: 1, maxCallsPerTurn: 1, toolTimeout: 2_000, maxToolCharacters: 10_000 };
  const context = { limits, episodeId: 'chaos', seed: 1, firstCallIndex: 0 };
  const [record] = await dispatch([{ id: '1', name, arguments: {} }], [...tools], context);
  return record!.text;
}
