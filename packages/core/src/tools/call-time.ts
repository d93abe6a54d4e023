/** callTime: the milliseconds that a call of a tool may take. */
import { ToolEnvError } from '../protocol/errors.ts';
import type { Tool } from '../protocol/tool.ts';

/**
 * The smaller of the tool's own limit and that of the environment.
 * @throws ToolEnvError `usage.tool_timeout` for a limit that is not a number above 0.
 */
export function callTime({ name, timeout }: Pick<Tool, 'name' | 'timeout'>, toolTimeout: number): number {
  if (timeout === undefined) return toolTimeout;
  if (typeof timeout === 'number' && timeout > 0) return Math.min(timeout, toolTimeout);
  const message = `Tool "${name}": its timeout is ${timeout}: give milliseconds above 0.`;
  throw new ToolEnvError('usage.tool_timeout', message);
}
