/** Tasks for an MCP server: definition.json names the server, and tasks.jsonl has one task per line. */
import { readFileSync } from 'node:fs';
import { defineMcpEnv } from '@toolenv/mcp';

const definition = JSON.parse(readFileSync(new URL('./definition.json', import.meta.url), 'utf8'));

export default defineMcpEnv({ ...definition, tasks: new URL('./tasks.jsonl', import.meta.url) });
