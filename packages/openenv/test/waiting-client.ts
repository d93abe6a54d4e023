/** A client as a process of its own: begins an episode at the URL, calls a tool that never answers, and says so. */
import { FrameClient } from './frame-client.ts';

const client = await FrameClient.connect(process.argv[2]!);
await client.ask('reset');
client.send({ type: 'step', data: { type: 'call_tool', tool_name: 'wait' } });
process.stdout.write('waiting\n');
await client.closed;
