/** Pi (pi.dev): chat completions. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Harness, runProgram } from '../harness.ts';
import { placeSkill } from '../place-skill.ts';

const ofTools = fileURLToPath(new URL('./pi-tools.js', import.meta.url));

export const pi: Harness = {
  name: 'pi',
  package: '@mariozechner/pi-coding-agent@0.73.1',
  confines: true,
  readsSkills: true,
  async run(job) {
    const { ask, home, baseURL: baseUrl, apiKey, tools, skill } = job;
    const compat = { supportsDeveloperRole: false, supportsReasoningEffort: false };
    const policy = { baseUrl, apiKey, api: 'openai-completions', compat, models: [{ id: 'policy' }] };
    const folder = join(home, '.pi', 'agent');
    await mkdir(folder, { recursive: true });
    if (skill) await placeSkill(join(folder, 'skills'), skill);
    await writeFile(join(folder, 'models.json'), JSON.stringify({ providers: { policy } }));
    const args = ['--print', '--no-session', '--offline', '--provider', 'policy', '--model', 'policy'];
    if (tools !== undefined) {
      const extension = join(home, 'tools.js');
      await copyFile(ofTools, extension);
      args.push('--extension', extension);
    }
    return runProgram(this, ['pi', ...args, ask], job, {
      ...(tools !== undefined && { TOOLENV_TOOLS: tools }),
      // It reads a skill as a file.
      ...(skill && { TOOLENV_OWN: 'read' }),
    });
  },
};
