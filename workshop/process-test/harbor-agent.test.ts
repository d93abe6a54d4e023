/** An agent that is a program in the container of a Harbor task reaches its model, and nothing else. */
import { type OpenedEnv, openEnv, playTask } from '@toolenv/core';
import { openHarbor, type PlayedTask } from '@toolenv/envs-harbor';
import { defineAgentEnv } from '@toolenv/gateway';
import { describe, expect, test } from 'vitest';
import { copyTasks, taskNamed } from '../../packages/envs-harbor/process-test/harbor-tasks.ts';
import { newFolder } from '../../packages/envs-harbor/test/task-folder.ts';
import { missing, PodmanService } from '../../packages/sandbox/process-test/podman-service.ts';

/** Asks for a command, and runs what the model answers. */
const agent = `ask='{"model": "policy", "messages": [{"role": "user", "content": "A command, please."}]}'
said=$(wget -q -O - --header "Authorization: Bearer $OPENAI_API_KEY" --header 'Content-Type: application/json' --post-data "$ask" "$OPENAI_BASE_URL/chat/completions") || exit 3
sh -c "$(echo "$said" | sed 's/.*"content":"\\([^"]*\\)".*/\\1/')"
ls /sys/class/net; id -u; echo "$TOOLENV_INSTRUCTION" | head -c 12`;

describe.skipIf(missing)(`agents in containers${missing ? ` (skipped: ${missing})` : ''}`, () => {
  test('a program is trained and judged in each step', async () => {
    const service = new PodmanService();
    await using made = await newFolder();
    const said: string[] = [];
    const harborAgent = defineAgentEnv({
      name: 'harbor-agent-v1',
      description: 'An agent of its own in the containers of Harbor tasks.',
      setup: () => openHarbor({ tasks: made.folder, socket: service.socket }),
      teardown: (harbor) => harbor.close(),
      tasks: ({ shared }) => shared.tasks,
      async agent({ task, shared, signal, baseURL, apiKey }) {
        await using episode = shared.begin(task);
        while (episode.step) {
          const { stdout, exitCode } = await episode.run(agent, { baseURL, apiKey, signal });
          said.push(`${exitCode}: ${stdout}`);
          episode.add(await episode.judge(signal));
        }
        return episode.reward;
      },
      rewards: { reward: { kind: 'outcome', score: ({ result = 0 }) => result } },
    });
    try {
      await service.start();
      await copyTasks(made.folder);
      await using env = (await openEnv(harborAgent)) as OpenedEnv<PlayedTask>;
      const task = await taskNamed(env, 'stock');
      const commands = ['(echo bolt,3; echo nail,3; echo nut,2) > stock.csv', 'echo nut,4 > order.csv'];
      const { reward, steps } = await playTask(env, task, commands);
      expect(said).toEqual(['0: lo\n0\nEach file in', '0: lo\n0\nThe file /ap']);
      expect([reward, steps.length]).toEqual([0.75, 2]);
    } finally {
      service.stop();
    }
  });
});
