/** The first prompt of an episode names every tool, whatever the model's own chat template has. */
import { openEnv, playTask } from '@toolenv/core';
import { Chat, readCheckpoint } from '@toolenv/policy';
import type { Report } from './report.ts';
import { environment } from './training.ts';

export async function checkToolsInPrompt(folder: string, report: Report): Promise<void> {
  await using env = await openEnv(environment);
  const { steps } = await playTask(env, env.tasks.train.get(0), ['no answer']);
  const { observation } = steps[0]!;
  const prompt = new Chat(await readCheckpoint(folder)).render(observation);
  const names = observation.tools.map(({ name }) => name);
  const missing = names.filter((name) => !prompt.includes(name));
  report.check(
    names.length > 0 && missing.length === 0,
    'tools in the first prompt',
    missing.length > 0 ? `without ${missing.join(', ')}` : names.join(', '),
  );
}
