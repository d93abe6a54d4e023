/** `create-toolenv`, in the process of the test. */
import { chmod, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { captured } from '../../cli/test/captured.ts';
import { canMount, SmallDisk } from '../../cli/test/small-disk.ts';
import { run as create } from '../src/run.ts';

const ofRepository = join(import.meta.dirname, '../../../templates');
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'create-toolenv-'));
});

/** Runs the command without a terminal. */
const run = (...args: string[]) => captured(folder, () => create(args));

// What npm 11 hands over of `npm create toolenv mine --template env`, with a space and with =.
test.each([
  ['true', ['mine', 'env']],
  ['env', ['mine']],
])('without --, npm keeps --template (%s), and the right command line is named', async (kept, words) => {
  vi.stubEnv('npm_config_template', kept);
  expect(await run(...words)).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'create-toolenv: npm has kept --template for itself: write -- before the options, as in npm create toolenv mine -- --template env\n',
  });
  expect((await run('mine', '--template', 'env')).code).toBe(0);
});

describe.each(['env', 'agent', 'tool', 'mcp-env', 'trainer'])('template %s', (template) => {
  it('becomes a complete package of another name', async () => {
    const { code, stdout } = await run('mine', '--template', template, '--name', '@me/mine', '--json');
    expect(code).toBe(0);
    const { files, name } = JSON.parse(stdout) as { files: string[]; name: string };
    expect(name).toBe('@me/mine');
    const there = (await readdir(join(folder, 'mine'), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, 'mine').length + 1));
    expect(there.sort()).toEqual([...files].sort());
    expect(files).toEqual(
      expect.arrayContaining([
        '.gitignore',
        '.npmrc',
        'AGENTS.md',
        'README.md',
        'package.json',
        'tsconfig.json',
      ]),
    );
    for (const file of files) {
      expect(await readFile(join(folder, 'mine', file), 'utf8'), file).not.toContain('toolenv-template');
    }

    const json = JSON.parse(await readFile(join(folder, 'mine/package.json'), 'utf8'));
    const original = JSON.parse(await readFile(join(ofRepository, template, 'package.json'), 'utf8'));
    const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../package.json'), 'utf8'));
    expect(json).toMatchObject({ name: '@me/mine', toolenv: original.toolenv, exports: original.exports });
    expect(json).not.toHaveProperty('private');
    expect(json.dependencies['@toolenv/core']).toBe(`^${version}`);
    expect(json.devDependencies.vitest).toBe(original.devDependencies.vitest);
  });

  it('becomes a package that no install script of a dependency runs in', async () => {
    await run('mine', '--template', template);
    // For npm 10, and for npm 11.16 and later, where the package.json also counts if the user allows scripts.
    expect(await readFile(join(folder, 'mine/.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
    const json = JSON.parse(await readFile(join(folder, 'mine/package.json'), 'utf8'));
    expect(json.allowScripts).toEqual({ 'onnxruntime-node': false });
    // npm runs no hooks under ignore-scripts, so a package that relied on one would be published without its build.
    const hooks = /^(pre|post|install$|prepare)/;
    expect(Object.keys(json.scripts).filter((name) => hooks.test(name))).toEqual([]);
  });
});

it('names the package after its folder, and says what to do next', async () => {
  const { code, stdout } = await run('maze', '--template', 'env');
  expect(code).toBe(0);
  expect(stdout).toBe('maze is in maze. Next:\n\n  cd maze\n  npm install\n  npm test\n');
  expect(await readFile(join(folder, 'maze/README.md'), 'utf8')).toMatch(/^# maze\n/);
});

const wrong: [what: string, args: string[], message: RegExp][] = [
  ['no template', ['maze'], /^create-toolenv: Give --template <name>: there is no terminal to ask at\. /],
  [
    'an unknown template',
    ['maze', '--template', 'envs'],
    /no template "envs": choose env, agent, tool, mcp-env, trainer\.\n$/,
  ],
  ['no folder', ['--template', 'env'], /^create-toolenv: Give a folder: /],
  ['two folders', ['a', 'b', '--template', 'env'], /^create-toolenv: Name one folder, not a and b\.\n$/],
  ['a name that npm refuses', ['Maze', '--template', 'env'], /cannot be named "Maze": .*\n$/],
  ['a scope without a name', ['maze', '--template', 'env', '--name', '@me'], /cannot be named "@me"/],
  [
    'an unknown flag',
    ['maze', '--tempalte', 'env'],
    /^create-toolenv: Unknown option '--tempalte'.* See --help\.\n$/,
  ],
  [
    'a folder in use',
    ['used', '--template', 'env'],
    /^create-toolenv: used is not empty: name a new folder\.\n$/,
  ],
  ['an empty name', ['', '--template', 'env'], /^create-toolenv: The name of the folder is empty: /],
  ['the folder above', ['..', '--template', 'env'], /^create-toolenv: \.\. is not empty: /],
  ['a name with spaces', ['my env', '--template', 'env'], /cannot be named "my env": /],
  [
    'a folder in a file',
    ['used/file/x', '--template', 'env'],
    /^create-toolenv: used\/file\/x cannot be used /,
  ],
  [
    'control characters',
    ['\x1b]0;x\x07\x9b\u202e', '--template', 'env'],
    /named "\\u001b\]0;x\\u0007\\u009b\\u202e": /,
  ],
  ['a file', ['used/file', '--template', 'env'], /^create-toolenv: used\/file cannot be used .*\n$/],
];
it.each(wrong)('reports %s in one line, exits with code 2, and writes nothing', async (_, args, message) => {
  await mkdir(join(folder, 'used'));
  await writeFile(join(folder, 'used/file'), 'mine');
  const { code, stdout, stderr } = await run(...args);
  expect(stderr).toMatch(message);
  expect(stderr.trimEnd()).not.toContain('\n');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(await readdir(folder)).toEqual(['used']);
  expect(await readdir(join(folder, 'used'))).toEqual(['file']);
});

it.runIf(process.platform === 'linux')(
  'ends where no folder can be made',
  async () => {
    for (const target of ['/proc/x', '/proc/x/y', '/sys/x', '/dev/null/x']) {
      const { code, stdout, stderr } = await run(target, '--template', 'env');
      expect(stderr).toMatch(
        /^create-toolenv: .* cannot be (made|used) .*: name (a new|another) folder\.\n$/,
      );
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    }
  },
  300_000,
);

it.each(['deep/er/maze', 'maze/', './maze'])('takes the path %s', async (path) => {
  const { code, stdout } = await run(path, '--template', 'env');
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`cd ${path}\n`) });
  expect(await readdir(join(folder, path))).toContain('package.json');
});

it('takes an absolute path with spaces, and quotes it', async () => {
  const path = join(folder, 'my mazes/maze');
  const { code, stdout } = await run(path, '--template', 'env');
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`cd '${path}'\n`) });
});

// The superuser may write everywhere.
it.skipIf(process.getuid?.() === 0)('keeps an empty folder that it cannot fill', async () => {
  await mkdir(join(folder, 'maze'));
  await chmod(join(folder, 'maze'), 0o500);
  const { code, stderr } = await run('maze', '--template', 'env');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^create-toolenv: .*EACCES.*\n$/);
  expect(await readdir(folder)).toEqual(['maze']);
});

it.runIf(canMount())('names the folder on a full disk, and leaves nothing in it', async () => {
  const disk = new SmallDisk(8);
  onTestFinished(() => disk.remove());
  const target = join(disk.folder, 'maze');
  const { code, stdout, stderr } = await run(target, '--template', 'env');
  expect(stderr).toMatch(
    new RegExp(
      `^create-toolenv: ${target} cannot be written \\(ENOSPC.*\\): make room, or name another folder\\.\\n$`,
    ),
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(await readdir(disk.folder)).toEqual([]);
});

it('shows its help and its version', async () => {
  expect((await run('--help')).stdout).toMatch(/--template <name> {2}env +an environment: tasks/);
  expect((await run('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
