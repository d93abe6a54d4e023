/** `npm run interop -- harnesses <folder>`: each coding agent that is installed in a folder plays 32 episodes of `bank-v1` to the end, in tokens of a real model. */
import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { openEnv } from '@toolenv/core';
import { type Harness, harnesses, withHarness } from '@toolenv/harnesses';
import { openChat } from '@toolenv/policy/chat';
import bank from '../../examples/bank.ts';
import { type BankTask, bankPlayer, playTasks } from '../../packages/harnesses/process-test/bank-player.ts';
import { makeModelFolder, modelFolder } from '../real-model/model-folder.ts';
import { acpAgents } from './acp-programs.ts';
import { missesSkill } from './harness-skills.ts';
import { sdkPi } from './sdk-agents.ts';
import { exactTokens, tokenPlayer } from './token-player.ts';

const count = 32;
/** Agents that can be confined are, where there is bubblewrap. */
const canConfine = existsSync('/usr/bin/bwrap');

export async function checkHarnesses(
  folder: string,
  check: (holds: boolean, title: string, difference: string) => void,
): Promise<void> {
  process.env.PATH = [process.env.PATH, join(resolve(folder), 'node_modules', '.bin')].join(delimiter);
  makeModelFolder();
  const pi = await sdkPi(resolve(folder));
  if (!pi) console.log('The agent of the AI SDK is not played: it needs its packages, and Node.js 22.');
  for (const harness of [...harnesses, ...acpAgents, ...(pi ? [pi] : [])]) {
    const begun = performance.now();
    const confine = canConfine && harness.confines === true;
    const { wrong, tokens } = await playBank(harness, confine);
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    const how = confine ? ', confined' : '';
    const title = `${harness.name} (${harness.package})${how}: ${count} episodes in ${seconds} s, ${tokens} sampled tokens`;
    check(wrong.length === 0, title, wrong.join('; '));
    if (!harness.readsSkills) continue;
    const missed = await missesSkill(harness, confine).catch(String);
    check(missed === undefined, `${harness.name}: a skill in its own place`, missed ?? '');
  }
}

/** What went wrong, by episode, and the number of sampled tokens. */
async function playBank(harness: Harness, confine: boolean): Promise<{ wrong: string[]; tokens: number }> {
  const env = await openEnv(bank);
  const tasks = await Promise.all(Array.from({ length: count }, (_, index) => env.tasks.test.get(index)));
  const policy = tokenPlayer(bankPlayer(tasks as BankTask[]), await openChat(modelFolder));
  const played = await withHarness(env, harness, { confine });
  const wrong: string[] = [];
  let tokens = 0;
  try {
    for (const trajectory of await playTasks(played, policy, tasks)) {
      const { group, reward, outcome, steps } = trajectory;
      // A request that rewrites earlier turns, or a conversation beside the first, would split the episode's tokens.
      const {
        first = 0,
        continued = 0,
        ...others
      } = (steps.at(-1)?.info?.requests ?? {}) as Record<string, number>;
      const isStraight = first === 1 && continued === steps.length - 1 && Object.keys(others).length === 0;
      const sampled = exactTokens(trajectory);
      tokens += sampled ?? 0;
      if (reward !== 1 || !isStraight || sampled === undefined) {
        const found = { outcome, first, continued, ...others, sampled };
        wrong.push(`task ${group}: reward ${reward}, ${JSON.stringify(found)}`);
      }
    }
  } catch (error) {
    wrong.push(String(error));
  } finally {
    await played.close();
  }
  return { wrong, tokens };
}
