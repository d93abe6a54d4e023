/**
 * Plays the command-line agents of docs/guides/command-line-agents.md against a script, and prints one line for each:
 * `npm run example workshop/agents/check-command-line.ts [PART-OF-A-NAME]`. Programs that are not on the PATH are left out. In a network namespace
 * with only the loopback (`unshare --net`, as root), it shows that they need no network.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EnvDefinition, type Observation, openEnv, playTask, type Scripted } from '@toolenv/core';

const page = join(import.meta.dirname, '../../docs/guides/command-line-agents.md');
const part = process.argv[2] ?? '';

// Inside the repository, so that imports find the packages.
const folder = await mkdtemp(join(import.meta.dirname, 'command-line-'));
try {
  const files = [...(await readFile(page, 'utf8')).matchAll(/```ts\n(\/\/ (\S+)\n[\s\S]*?)```/g)];
  for (const [, code, file] of files) await writeFile(join(folder, file!), code!);
  for (const [, code, file] of files) {
    const program = /command\('([\w-]+)'/.exec(code!)?.[1];
    if (!program || !file!.includes(part)) continue;
    if (!isInstalled(program)) console.log(`left out  ${file}: ${program} is not on the PATH`);
    else await check(file!);
  }
} finally {
  await rm(folder, { recursive: true });
}

async function check(file: string): Promise<void> {
  const { default: definition } = (await import(join(folder, file))) as { default: EnvDefinition };
  await using env = await openEnv(definition);
  const begin = performance.now();
  const prompts: number[] = [];
  const { outcome, reward, steps } = await playTask(
    env,
    env.tasks.test.get(0),
    (observation) => {
      prompts.push(JSON.stringify(observation).length);
      return turnOf(observation);
    },
    { retries: 0 },
  );
  const { requests } = Object(steps.at(-1)?.info);
  // smolagents writes answers anew.
  const known = ['first', 'continued', ...(file.startsWith('smolagents') ? ['edit'] : [])];
  const isStraight = Object.keys(Object(requests)).every((kind) => known.includes(kind));
  const isRight = reward === 1 && outcome.kind === 'terminated' && isStraight;
  if (!isRight) process.exitCode = 1;
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(
    `${isRight ? 'ok      ' : 'FAILED  '}  ${file}  ${seconds} s  ${JSON.stringify({ requests, prompts })}`,
  );
  if (!isRight) console.log({ outcome, reward });
}

/** Writes the file by a command or, without tools, by code or in the text; calls a tool three times; and ends. */
function turnOf({ messages, tools }: Observation): Scripted {
  const answer = /Write (\d+)/.exec(messages.findLast(({ role }) => role === 'user')!.content)?.[1];
  const done = messages.filter(({ role }) => role === 'tool').length;
  if (tools.length === 0 && messages[0]!.content.includes('<code>')) {
    const seen = messages.filter(({ role }) => role === 'assistant').length;
    const write = `from pathlib import Path\nPath('answer.txt').write_text('${answer}')\n`;
    return `Thought: I write it.\n<code>\n${seen === 0 ? write : `final_answer('done')`}\n`;
  }
  if (tools.length === 0) return `Here it is.\n\nanswer.txt\n\`\`\`\n${answer}\n\`\`\`\n`;
  if (done === 4) return 'Done.';
  for (const { name, inputSchema } of tools) {
    const { properties = {}, required = [] } = inputSchema as { properties?: object; required?: string[] };
    const field = ['command', 'cmd'].find((each) => each in properties);
    if (!field) continue;
    const last = 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT';
    const others = Object.fromEntries(required.map((each) => [each, 'writes']));
    const command = done === 3 && name === 'bash' ? last : `echo ${answer} > answer.txt`;
    return [{ name, arguments: { ...others, [field]: command } }];
  }
  return 'There is no tool that runs commands.';
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
