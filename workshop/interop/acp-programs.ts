/** Agents that speak the Agent Client Protocol, each told of the policy in its own way. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AcpProgram, acpAgent, type Harness } from '@toolenv/harnesses';

const programs: readonly AcpProgram[] = [
  {
    name: 'claude-agent-acp',
    package: '@agentclientprotocol/claude-agent-acp',
    program: ['claude-agent-acp'],
    env: () => ({
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ENABLE_TOOL_SEARCH: 'false',
      IS_SANDBOX: '1',
    }),
  },
  {
    name: 'opencode-acp',
    package: 'opencode-ai@1.18.33',
    program: ['opencode', 'acp'],
    env({ baseURL, apiKey }) {
      const options = { baseURL, apiKey };
      const policy = { npm: '@ai-sdk/openai-compatible', options, models: { policy: {} } };
      const config = { provider: { policy }, model: 'policy/policy', agent: { title: { disable: true } } };
      return { OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_DISABLE_MODELS_FETCH: '1' };
    },
  },
  {
    name: 'qwen-code-acp',
    package: '@qwen-code/qwen-code@0.24.4',
    program: ['qwen', '--acp', '--yolo', '--auth-type', 'openai'],
    async env({ home }) {
      await mkdir(join(home, '.qwen'));
      const memory = { enableManagedAutoMemory: false, enableManagedAutoDream: false };
      const tools = { core: ['none'], toolSearch: { enabled: false } };
      const ui = { enableFollowupSuggestions: false };
      await writeFile(join(home, '.qwen', 'settings.json'), JSON.stringify({ memory, tools, ui }));
      return { OPENAI_MODEL: 'policy', QWEN_CODE_LEGACY_MCP_BLOCKING: '1' };
    },
  },
];

export const acpAgents: readonly Harness[] = programs.map(acpAgent);
