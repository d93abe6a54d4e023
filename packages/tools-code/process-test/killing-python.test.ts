/** Programs that would end this process, or keep its cores, if they ran in it; and what is left of an interpreter when its parent is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { killingPrograms } from './killing-programs.ts';

function start(file: string) {
  const source = ['--import', 'tsx', '--conditions=@toolenv/source'];
  return spawn(process.execPath, [...source, join(import.meta.dirname, file)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

test('programs that V8 cannot interrupt neither end the process that trains nor keep a core', async () => {
  const player = start('play-killing-programs.ts');
  let said = '';
  player.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  expect(await once(player, 'close')).toEqual([0, null]);
  const played = said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(played.map(({ name }) => name)).toEqual(Object.keys(killingPrograms));
  for (const { name, answer, next, busy } of played) {
    expect(answer, name).toMatch(/^\[stopped|MemoryError|memory limit|Invalid/);
    expect(next, name).toBe('2');
    expect(busy, name).toBeLessThan(0.2);
  }
});

test.skipIf(!existsSync('/proc/self'))(
  'an interpreter that never answers ends when its parent is killed',
  async () => {
    const player = start('play-endless-program.ts');
    await once(player.stdout, 'data');
    const children = readdirSync(`/proc/${player.pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${player.pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
    );
    const interpreter = children.find((pid) => commandOf(pid).includes('interpreter-process.js'))!;
    expect(commandOf(interpreter)).not.toBe('');
    player.kill('SIGKILL');
    await once(player, 'close');
    for (let waited = 0; commandOf(interpreter) !== ''; waited += 50) {
      expect(waited, 'milliseconds').toBeLessThan(10_000);
      await sleep(50);
    }
  },
);

/** Empty for a process that has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
