/** Qwen Code (github.com/QwenLM/qwen-code): chat completions. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Harness, runProgram, serverName } from '../harness.ts';
import { placeSkill } from '../place-skill.ts';

export const qwenCode: Harness = {
  name: 'qwen-code',
  package: '@qwen-code/qwen-code@0.24.4',
  confines: true,
  readsSkills: true,
  async run(job) {
    const { ask, home, tools, skill } = job;
    const settings = {
      security: { auth: { selectedType: 'openai' } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      // Its memory asks the model for another conversation.
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
      ...(tools !== undefined && {
        mcpServers: { [serverName]: { httpUrl: tools, trust: true } },
        tools: { core: [skill ? 'skill' : 'none'], toolSearch: { enabled: false } },
      }),
    };
    await mkdir(join(home, '.qwen'));
    if (skill) await placeSkill(join(home, '.qwen', 'skills'), skill);
    await writeFile(join(home, '.qwen', 'settings.json'), JSON.stringify(settings));
    return runProgram(this, ['qwen', '--yolo', '--prompt', ask], job, { OPENAI_MODEL: 'policy' });
  },
};
