/** `npm run baselines`: the mean reward of players without a model in each environment of the library, as rows of a table. */
import { meanRewards, tableRow } from './mean-rewards.ts';
import { randomPlayers } from './random-players.ts';

for (const ref of Object.keys(randomPlayers)) console.log(tableRow(ref, await meanRewards(ref)));
