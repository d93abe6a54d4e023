/** solutionOf: how the task of an episode is won, shown to a person once the episode has ended. */
import type { EnvDefinition, Observation, Script, Scripted, Trajectory } from '@toolenv/core';
import type { WrittenTurn } from './play-by-hand.ts';

/** A script that is a function may go on for ever. */
const maxTurns = 50;

/**
 * The turns of the environment's oracle, without playing them: tools may change something outside.
 * @returns No turns if nothing knows how the task is won.
 */
export async function solutionOf<Task>(
  oracle: EnvDefinition<Task>['oracle'],
  { task, steps }: Trajectory<Task>,
): Promise<WrittenTurn[]> {
  const said = oracle?.(task);
  if (said === undefined) return [];
  if (typeof said !== 'function') return said.map(turnOf);
  const observation = steps.at(-1)?.observation;
  if (!observation) return [];
  // A script may depend on what it did before, which was not done here.
  return playedScript(said, observation).catch(() => []);
}

/** Until the script answers. */
async function playedScript(script: Script, observation: Observation): Promise<WrittenTurn[]> {
  const turns: WrittenTurn[] = [];
  while (turns.length < maxTurns) {
    const turn = turnOf(await script(observation, turns.length));
    turns.push(turn);
    if (turn.calls.length === 0) break;
  }
  return turns;
}

function turnOf(said: Scripted): WrittenTurn {
  if (typeof said === 'string') return { text: said, calls: [] };
  if ('text' in said) {
    const calls = said.toolCalls.flatMap((call) => ('name' in call ? [call] : []));
    return { text: said.text, calls };
  }
  return { text: '', calls: said };
}
