/** A server of MCP 2026-07-28 over stdio that makes tasks of its calls (SEP-2663). The argument `what` says how a task ends. It writes what it is asked to stderr. */
import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const complete = (id, result) => say({ id, result: { resultType: 'complete', ...result } });
const text = (said) => ({ content: [{ type: 'text', text: String(said) }], resultType: 'complete' });
const tool = { name: 'long', inputSchema: { type: 'object', properties: { what: { type: 'string' } } } };
const tasks = new Map();
const asked = [];

function call(id, { arguments: { what } = {}, _meta }) {
  if (what === 'at once') return complete(id, text('at once'));
  // All requests that came so far, without those that list and discover.
  if (what === 'asked') return complete(id, text(JSON.stringify(asked)));
  const declared = _meta['io.modelcontextprotocol/clientCapabilities']?.extensions ?? {};
  if (!('io.modelcontextprotocol/tasks' in declared))
    return say({ id, error: { code: -32021, message: 'it needs the tasks extension' } });
  const taskId = `t${tasks.size + 1}`;
  tasks.set(taskId, { what, polls: 0 });
  const pollIntervalMs = { slowly: 100, never: 1e12, hastily: 0 }[what] ?? 30;
  return say({
    id,
    result: { resultType: 'task', taskId, status: 'working', ttlMs: 60_000, pollIntervalMs },
  });
}

function get(id, { taskId, _meta }) {
  const task = tasks.get(taskId);
  if (!task || !_meta['io.modelcontextprotocol/protocolVersion'])
    return say({ id, error: { code: -32602, message: `Task ${taskId} not found` } });
  const { what, answer } = task;
  task.polls += 1;
  const state = (fields) =>
    complete(id, { taskId, status: 'working', ttlMs: null, pollIntervalMs: 30, ...fields });
  if (task.polls < 3 && !answer) return state({ statusMessage: `step ${task.polls}` });
  switch (what) {
    case 'fails':
      return state({ status: 'failed', error: { code: -32001, message: 'no disk' } });
    case 'is cancelled':
      return state({ status: 'cancelled' });
    case 'has no result':
      return state({ status: 'completed' });
    case 'has no status':
      return state({ status: undefined });
    case 'is forgotten':
      return say({ id, error: { code: -32602, message: `Task ${taskId} not found` } });
    case 'is silent':
      return;
    case 'dies':
      return process.exit(3);
    case 'asks':
      if (answer) return state({ status: 'completed', result: text(`hello ${answer}`) });
      return state({
        status: 'input_required',
        inputRequests: {
          who: {
            method: 'elicitation/create',
            params: {
              mode: 'form',
              message: 'Who?',
              requestedSchema: {
                type: 'object',
                properties: { name: { type: 'string' } },
                required: ['name'],
              },
            },
          },
        },
      });
    case 'never':
    case 'works on':
      return state({});
    default:
      return state({
        status: 'completed',
        result: { ...text(`after ${task.polls}`), isError: what === 'reports' },
      });
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method.startsWith('tasks/') || method.startsWith('notifications/')) asked.push(method);
  if (id === undefined) return;
  if (method === 'server/discover')
    complete(id, {
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      ...{ serverInfo: { name: 'tasks', version: '1.0.0' }, ttlMs: 0, cacheScope: 'private' },
    });
  else if (method === 'tools/list') complete(id, { tools: [tool], ttlMs: 0, cacheScope: 'private' });
  else if (method === 'tools/call') call(id, params);
  else if (method === 'tasks/get') get(id, params);
  else if (method === 'tasks/update') {
    tasks.get(params.taskId).answer = params.inputResponses.who.content.name;
    complete(id, {});
  } else if (method === 'tasks/cancel') complete(id, {});
  else say({ id, error: { code: -32601, message: 'Method not found' } });
});
