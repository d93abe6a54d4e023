/** OpenCode (opencode.ai): chat completions. */
import { type Harness, runProgram, serverName } from '../harness.ts';

const own =
  'bash edit write read glob grep list patch task skill todowrite todoread webfetch websearch question invalid';

export const opencode: Harness = {
  name: 'opencode',
  package: 'opencode-ai@1.18.33',
  confines: true,
  async run(job) {
    const { ask, baseURL, apiKey, tools } = job;
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL, apiKey },
      models: { policy: {} },
    };
    const config = {
      provider: { policy: provider },
      share: 'disabled',
      autoupdate: false,
      ...(tools !== undefined && {
        mcp: { [serverName]: { type: 'remote', url: tools, enabled: true, oauth: false } },
        tools: Object.fromEntries(own.split(' ').map((name) => [name, false])),
      }),
    };
    const env = { OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_DISABLE_MODELS_FETCH: '1' };
    const args = ['run', '--title', 'task', '--model', 'policy/policy', ask] as const;
    return runProgram(this, ['opencode', ...args], job, env);
  },
};
