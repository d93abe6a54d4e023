/** readPlayerList: the policies of a tournament, as `--players` names them. */
import { ToolEnvError } from '@toolenv/core';

/**
 * @param text `new=run/policy,old=before/policy`.
 * @returns The policy of each name.
 * @throws ToolEnvError `usage.bad_flag`
 */
export function readPlayerList(text: string): [name: string, policy: string][] {
  const players = text.split(',').map((each): [string, string] => {
    const at = each.indexOf('=');
    const [name, policy] = [each.slice(0, Math.max(at, 0)).trim(), each.slice(at + 1).trim()];
    if (name !== '' && policy !== '') return [name, policy];
    throw refused(text, `"${each}" is not name=policy: write it as new=run/policy,old=before/policy`);
  });
  const names = players.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw refused(text, `two players are named "${twice}": rename one`);
  if (players.length < 2) throw refused(text, 'a tournament needs two players or more');
  return players;
}

function refused(text: string, problem: string): ToolEnvError {
  return new ToolEnvError('usage.bad_flag', `--players ${text}: ${problem}.`);
}
