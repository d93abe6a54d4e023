/** Continue's command line (docs.continue.dev): chat completions. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Harness, runProgram, serverName } from '../harness.ts';
import { placeSkill } from '../place-skill.ts';

const own = ['Bash', 'Edit', 'Fetch', 'Glob', 'List', 'MultiEdit', 'Read', 'Search', 'Write', 'Checklist'];

export const continueCli: Harness = {
  name: 'continue',
  package: '@continuedev/cli@1.5.47',
  confines: true,
  readsSkills: true,
  async run(job) {
    const { ask, home, baseURL: apiBase, apiKey, tools, skill } = job;
    if (skill) await placeSkill(join(home, '.continue', 'skills'), skill);
    const model = { name: 'policy', provider: 'openai', model: 'policy', apiBase, apiKey, roles: ['chat'] };
    const server = { name: serverName, type: 'streamable-http', url: tools };
    const config = {
      ...{ name: 'toolenv', version: '1.0.0', schema: 'v1' },
      models: [{ ...model, capabilities: ['tool_use'] }],
      ...(tools !== undefined && { mcpServers: [server] }),
    };
    // YAML, of which JSON is a part.
    const file = join(home, 'config.yaml');
    await writeFile(file, JSON.stringify(config));
    const args = ['--config', file, '--print', ask];
    // --auto would run excluded tools too.
    if (tools === undefined) args.push('--auto');
    else {
      const left = skill ? own : [...own, 'Skills'];
      args.push('--allow', '*', ...left.flatMap((name) => ['--exclude', name]));
    }
    return runProgram(this, ['cn', ...args], job, { CONTINUE_TELEMETRY_ENABLED: '0' });
  },
};
