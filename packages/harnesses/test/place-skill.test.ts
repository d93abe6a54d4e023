import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { placeSkill } from '../src/index.ts';

const newFolder = () => mkdtemp(join(tmpdir(), 'place-skill-'));

test('a skill keeps its front matter and its files, and leaves links and pipes behind', async () => {
  const [from, to] = [await newFolder(), join(await newFolder(), 'deep', 'skills')];
  await mkdir(join(from, 'references'));
  await writeFile(join(from, 'references', 'limits.md'), 'At most 500.');
  await symlink('/etc/passwd', join(from, 'link'));
  execFileSync('mkfifo', [join(from, 'pipe')]);
  await writeFile(join(from, 'SKILL.md'), '---\nname: send\ndescription: How to send.\n---\n\nOld text.\n');
  await placeSkill(to, { name: 'send', text: 'New text.', folder: from });
  expect((await readdir(join(to, 'send'))).sort()).toEqual(['SKILL.md', 'references']);
  expect(await readFile(join(to, 'send', 'references', 'limits.md'), 'utf8')).toBe('At most 500.');
  expect(await readFile(join(to, 'send', 'SKILL.md'), 'utf8')).toBe(
    '---\nname: send\ndescription: How to send.\n---\n\nNew text.\n',
  );
});

test('a skill without a folder is described by its first line', async () => {
  const to = await newFolder();
  await placeSkill(to, { name: 'send', text: '# Send "money"\n\nAsk first.' });
  expect(await readFile(join(to, 'send', 'SKILL.md'), 'utf8')).toBe(
    '---\nname: send\ndescription: "Send \\"money\\""\n---\n\n# Send "money"\n\nAsk first.\n',
  );
});

test.each(['../out', 'a/b', '..', ''])(
  'the name %j is refused, as a folder it would lie elsewhere',
  async (name) => {
    const to = await newFolder();
    await expect(placeSkill(to, { name, text: 'Hm.' })).rejects.toMatchObject({ code: 'usage.bad_skill' });
    expect(await readdir(to)).toEqual([]);
  },
);
