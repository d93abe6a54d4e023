/** Codex (github.com/openai/codex): Responses. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Harness, runProgram, serverName } from '../harness.ts';
import { placeSkill } from '../place-skill.ts';

export const codex: Harness = {
  name: 'codex',
  package: '@openai/codex@0.171.0',
  confines: true,
  readsSkills: true,
  async run(job) {
    const { ask, home, baseURL, tools, skill } = job;
    if (skill) await placeSkill(join(home, 'skills'), skill);
    const last = join(home, 'last-message');
    const provider = `{name="policy", base_url="${baseURL}", env_key="OPENAI_API_KEY", wire_api="responses"}`;
    const settings = [
      `model_providers.policy=${provider}`,
      'model_provider="policy"',
      'web_search="disabled"',
      'features.multi_agent=false',
      'features.goals=false',
      'analytics.enabled=false',
      'check_for_update_on_startup=false',
      ...(tools === undefined
        ? []
        : [
            `mcp_servers.${serverName}.url="${tools}"`,
            // It reads a skill by its shell.
            ...(skill ? [] : ['features.shell_tool=false', 'features.unified_exec=false']),
          ]),
    ];
    const args = [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      '--model',
      'policy',
    ];
    args.push('--output-last-message', last);
    for (const setting of settings) args.push('-c', setting);
    await runProgram(this, ['codex', ...args, ask], job, { CODEX_HOME: home });
    return readFile(last, 'utf8');
  },
};
