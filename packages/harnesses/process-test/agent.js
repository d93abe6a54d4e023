/** A coding agent as small as can be: chat completions, the tools of an MCP server, and its last words on stdout. `<tools> <task>` */
import { playTask } from './play-task.js';

const [url, task] = process.argv.slice(2);
console.log(await playTask(url, task));
