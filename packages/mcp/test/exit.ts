/** Begins an episode with a folder, prints the folder and exits without closing anything. The first argument is a server. */
import { openEnv } from '@toolenv/core';
import { defineMcpEnv } from '@toolenv/mcp';

const env = await openEnv(
  defineMcpEnv({
    name: 'exit-v1',
    server: ({ folder }) => ({ command: process.execPath, args: [process.argv[2]!], cwd: folder }),
    tasks: [{ prompt: 'go' }],
    async episode({ folder, call }) {
      const { text: child } = await call('child');
      process.stdout.write(`${JSON.stringify({ folder, child })}\n`);
    },
  }),
);
await env.episode().reset({ task: await env.tasks.test.get(0), seed: 1 });
process.exit(7);
