/** LanceDB builds a full-text index with one thread in its pool, as on machines of three cores or fewer. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { setLanceThreads } from '../src/lance-threads.ts';

const program = `
import { createSearchIndex } from '@toolenv/tools-search';
const documents = Array.from({ length: 30_000 }, (_, i) => ({
  title: 'T' + i,
  text: Array.from({ length: 40 }, (_, j) => 'w' + ((i * 7919 + j * 104729) % 50_000)).join(' '),
}));
const index = await createSearchIndex({ documents });
console.log((await index.search('T29999', 1))[0].title);
`;

test('an index of 30,000 documents is built on a machine with few cores', async () => {
  const args = [
    '--import',
    import.meta.resolve('tsx'),
    '--conditions=@toolenv/source',
    '--input-type=module',
  ];
  // LanceDB leaves all cores but these to other work.
  const env: NodeJS.ProcessEnv = { ...process.env, LANCE_IO_CORE_RESERVATION: '1000' };
  delete env.LANCE_CPU_THREADS;
  delete env.LANCE_FTS_NUM_SHARDS;
  const run = promisify(execFile)(process.execPath, [...args, '-e', program], {
    env,
    cwd: import.meta.dirname,
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  const { stdout, stderr } = await run;
  expect(stdout).toBe('T29999\n');
  // LanceDB does not warn that the index is new.
  expect(stderr).not.toContain('WARN');
});

test('the variables of the user win', () => {
  const own = {
    LANCE_CPU_THREADS: '9',
    LANCE_FTS_NUM_SHARDS: '3',
    LANCE_FTS_PARTITION_SIZE: '64',
    LANCE_DEFAULT_IO_BUFFER_SIZE: '1000000',
  };
  const env = { ...own };
  setLanceThreads(env);
  expect(env).toEqual(own);
  const other: NodeJS.ProcessEnv = { LANCE_FTS_NUM_SHARDS: '64' };
  setLanceThreads(other);
  expect(Number(other.LANCE_CPU_THREADS)).toBeGreaterThan(64);
});
