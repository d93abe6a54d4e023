/** Whether an agent finds a skill in its own place: the policy calls the agent's own tool for it, and then reads its text. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EnvHandle, openEnv, scriptedPolicy, type ToolDescription } from '@toolenv/core';
import { type Harness, withHarness } from '@toolenv/harnesses';
import bank from '../../examples/bank.ts';
import { type BankTask, playTasks } from '../../packages/harnesses/process-test/bank-player.ts';

const name = 'careful-transfers';
const description = 'How to send money in this bank.';
const text = 'Say the word quincunx before each transfer.';

/** @returns What is wrong, or nothing. */
export async function missesSkill(harness: Harness, confine: boolean): Promise<string | undefined> {
  const folder = join(await mkdtemp(join(tmpdir(), 'skill-')), name);
  await mkdir(folder);
  await writeFile(
    join(folder, 'SKILL.md'),
    `---\nname: ${name}\ndescription: ${description}\n---\n\n${text}\n`,
  );
  const env = (await openEnv(bank)) as EnvHandle<BankTask>;
  const task = await env.tasks.test.get(0);
  const seen: string[] = [];
  const policy = scriptedPolicy(({ messages, tools }, turn) => {
    const told = [
      ...messages.map(({ content }) => content),
      ...tools.map(({ description }) => description),
    ].join('\n');
    seen.push(told);
    const call = turn === 0 && callFor(tools, told);
    return call ? [call] : 'Done.';
  });
  const played = await withHarness(env, harness, { confine, skill: { name, text, folder } });
  try {
    await playTasks(played, policy, [task]);
  } finally {
    await played.close();
  }
  const [first = '', second = ''] = seen;
  // Cline names its skills, and describes none.
  if (!first.includes(description) && !first.includes(name)) return 'the model is not told of the skill';
  if (first.includes(text)) return 'the model reads the skill before it asks for it';
  return second.includes(text) ? undefined : `the model does not get the skill: ${second.slice(-200)}`;
}

/** The call with which an agent reads a skill: by a tool for skills, or as a file. */
function callFor(tools: readonly ToolDescription[], told: string) {
  const tool = tools.find(({ name }) => /^(skills?|exec_command|read)$/i.test(name));
  if (!tool) return undefined;
  const path = /<location>([^<]*careful-transfers[^<]*)</.exec(told)?.[1];
  const argumentsOf: Record<string, object> = {
    exec_command: { cmd: `cat "$CODEX_HOME/skills/${name}/SKILL.md"` },
    read: { path },
  };
  const [field = 'skill'] = Object.keys(Object(tool.inputSchema.properties)).filter((key) =>
    /skill|name/.test(key),
  );
  return { name: tool.name, arguments: argumentsOf[tool.name] ?? { [field]: name } } as never;
}
