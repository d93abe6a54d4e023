/** hideFolder: results in which every path is relative to the episode's folder, so that episodes are alike wherever the folder is. */
import { dirname } from 'node:path';
import type { Tool, ToolResult } from '@toolenv/core';

export function hideFolder(tool: Tool, folder: string): Tool {
  const [written, parent] = [folder, dirname(folder)].map((path) => JSON.stringify(path).slice(1, -1));
  return {
    ...tool,
    async execute(args, context) {
      const result = JSON.stringify(await tool.execute(args, context))
        .replaceAll(`${written}/`, '')
        .replaceAll(written!, '.')
        .replaceAll(parent!, '..')
        // The server writes a file of a random name first, which its errors mention.
        .replaceAll(/\.[0-9a-f]{32}\.tmp/g, '.tmp');
      return JSON.parse(result) as ToolResult;
    },
  };
}
