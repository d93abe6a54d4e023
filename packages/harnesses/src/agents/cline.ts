/** Cline's command line (cline.bot): chat completions. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Harness, runProgram, serverName } from '../harness.ts';
import { placeSkill } from '../place-skill.ts';

export const cline: Harness = {
  name: 'cline',
  package: 'cline@3.0.65',
  confines: true,
  readsSkills: true,
  async run(job) {
    const { ask, home, baseURL, apiKey, tools, skill } = job;
    if (skill) await placeSkill(join(home, '.cline', 'skills'), skill);
    const provider = ['--provider', 'openai-compatible'];
    await runProgram(this, ['cline', 'auth', ...provider, '-k', apiKey, '-m', 'policy', '-b', baseURL], job);
    if (tools !== undefined) {
      const folder = join(home, '.cline', 'data', 'settings');
      await mkdir(folder, { recursive: true });
      const servers = { [serverName]: { type: 'streamableHttp', url: tools } };
      await writeFile(join(folder, 'cline_mcp_settings.json'), JSON.stringify({ mcpServers: servers }));
    }
    return runProgram(this, ['cline', ...provider, '--model', 'policy', ask], job);
  },
};
