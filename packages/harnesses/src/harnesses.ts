/** The agents that toolenv knows. */
import { ToolEnvError } from '@toolenv/core';
import { didYouMean } from '@toolenv/core/schemas';
import { acpAgent } from './acp-agent.ts';
import { claudeCode } from './agents/claude-code.ts';
import { cline } from './agents/cline.ts';
import { codex } from './agents/codex.ts';
import { continueCli } from './agents/continue.ts';
import { opencode } from './agents/opencode.ts';
import { pi } from './agents/pi.ts';
import { qwenCode } from './agents/qwen-code.ts';
import type { Harness } from './harness.ts';

/** By their names. */
export const harnesses: readonly Harness[] = [claudeCode, cline, codex, continueCli, opencode, pi, qwenCode];

/** Before the command line of a program that speaks the Agent Client Protocol, such as `acp:opencode acp`. */
const acp = 'acp:';

/**
 * An agent that toolenv knows, or a program that speaks the Agent Client Protocol: `acp:` and its words, between spaces.
 * @throws ToolEnvError `usage.unknown_agent`.
 */
export function harnessNamed(name: string): Harness {
  const [file, ...args] = name.startsWith(acp) ? name.slice(acp.length).split(' ').filter(Boolean) : [];
  if (file !== undefined) return acpAgent({ name: 'acp', package: name, program: [file, ...args] });
  const found = harnesses.find((each) => each.name === name);
  if (found) return found;
  const hint = didYouMean(
    name,
    harnesses.map((each) => each.name),
    'Agents',
  );
  throw new ToolEnvError('usage.unknown_agent', `There is no agent "${name}". ${hint}`);
}
