/** Claude Code (docs.claude.com/claude-code): Anthropic's messages. */
import { join } from 'node:path';
import { type Harness, runProgram, serverName } from '../harness.ts';
import { placeSkill } from '../place-skill.ts';

export const claudeCode: Harness = {
  name: 'claude-code',
  package: '@anthropic-ai/claude-code@2.1.332',
  confines: true,
  readsSkills: true,
  async run(job) {
    const { ask, home, tools, skill } = job;
    if (skill) await placeSkill(join(home, '.claude', 'skills'), skill);
    const servers = tools === undefined ? {} : { [serverName]: { type: 'http', url: tools } };
    const args = [
      '-p',
      ask,
      '--model',
      'policy',
      '--dangerously-skip-permissions',
      '--no-session-persistence',
    ];
    const own = [
      ...(tools === undefined ? ['Bash', 'Read', 'Edit', 'Write'] : []),
      ...(skill ? ['Skill'] : []),
    ];
    args.push('--tools', own.join(','));
    args.push('--strict-mcp-config', '--mcp-config', JSON.stringify({ mcpServers: servers }));
    // As root, it skips permissions only in a sandbox.
    const env = {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ENABLE_TOOL_SEARCH: 'false',
      IS_SANDBOX: '1',
    };
    return runProgram(this, ['claude', ...args], job, env);
  },
};
