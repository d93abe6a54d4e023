/** The tasks in examples/harbor, and one that declares no artifacts, on an image that is made here instead of pulled. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvHandle } from '@toolenv/core';
import { image } from '../../sandbox/process-test/podman-service.ts';
import type { PlayedTask } from '../src/task/read-tasks.ts';
import { writeFiles } from '../test/task-folder.ts';

const examples = join(import.meta.dirname, '../../../examples/harbor');

/** A task that declares no artifacts, as most public ones do. Its tests also ask for a deleted folder, rights and a link's content; podman gives every file to root. */
const undeclared: Readonly<Record<string, string>> = {
  'task.toml':
    '[environment]\nmemory_mb = 256\nstorage_mb = 96\nallow_internet = true\n[verifier]\ntimeout_sec = 120\n',
  'instruction.md': 'Write 42 into out.txt, and clean up.\n',
  'environment/Dockerfile': `FROM ${image}\nENV PATH=/opt/first:/usr/local/bin:/bin\nRUN mkdir -p /app/old /opt && echo kept > /app/kept\nWORKDIR /app\n`,
  'tests/expected.txt': '42\n',
  'tests/test.sh': `#!/bin/sh
cp /tests/expected.txt /tmp/expected
[ ! -f ~/.profile ] || . ~/.profile
cmp -s /app/out.txt /tmp/expected && [ ! -e /app/old ] && [ ! -e /work ] && [ "$(cat /app/kept)" = kept ] || exit 1
echo 0.5 > /logs/verifier/reward.txt
[ "$(stat -c %a /srv/run.sh)" = 750 ] && cmp -s /srv/link /tmp/expected && cmp -s /srv/hard /tmp/expected && [ -f "/srv/a b/new
line" ] && [ -L /srv/sh ] && [ ! -e /srv/none ] && echo 1 > /logs/verifier/reward.txt
`,
  'solution/solve.sh': `#!/bin/sh
cd /app
echo 42 > out.txt
rm -r old /work
mkdir -p "/srv/a b" && cd /srv
echo 42 > text; ln text hard; ln -s text link; ln -s /bin/sh sh; ln -s /none none; echo > "a b/new
line"
cp text run.sh; chmod 4750 run.sh
`,
};

/** Copies the tasks into a folder. */
export async function copyTasks(folder: string): Promise<void> {
  for (const name of ['errors', 'reverse', 'stock']) {
    await cp(join(examples, name), join(folder, name), { recursive: true });
    const file = join(folder, name, 'environment/Dockerfile');
    await writeFile(file, (await readFile(file, 'utf8')).replace('FROM busybox', `FROM ${image}`));
  }
  await writeFiles(join(folder, 'undeclared'), undeclared);
}

/** A task of the split `test` by its name. */
export async function taskNamed({ tasks }: EnvHandle<PlayedTask>, name: string): Promise<PlayedTask> {
  for (let index = 0; index < (await tasks.test.length); index++) {
    const task = await tasks.test.get(index);
    if (task.name === name) return task;
  }
  throw new Error(`there is no task ${name}`);
}
