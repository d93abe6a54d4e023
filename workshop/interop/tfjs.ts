/** Checks TensorFlow.js on the native TensorFlow library. Builds its addon against the library in TensorFlow's Python wheel. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { check } from './check.ts';
import type { Comparison } from './tfjs-comparisons.ts';

/** Used instead of tfjs-node's install script, which would download TensorFlow 2.9. */
const wheel = 'tensorflow-cpu==2.21.0';
const packages = ['@tensorflow/tfjs-node@4.22.0', 'node-gyp@11.4.2'];

const folder = join(import.meta.dirname, '../..', '.venv', 'tfjs-node');
const addon = join(folder, 'node_modules', '@tensorflow', 'tfjs-node');
const napiVersion = 8;
const binding = join(addon, 'lib', `napi-v${napiVersion}`);

/** @param check Called with each result. */
export async function checkTfjs(python: string): Promise<void> {
  if (!existsSync(join(binding, 'tfjs_binding.node'))) await build(python);
  const script = join(import.meta.dirname, 'tfjs-comparisons.ts');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--conditions=@toolenv/source', script],
    { env: { ...process.env, NODE_PATH: join(folder, 'node_modules') }, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`TensorFlow.js failed on the native library:\n${stderr}`);
  for (const { title, agrees, otherwise } of JSON.parse(stdout) as Comparison[]) {
    check(agrees, `tfjs-node: ${title}`, otherwise);
  }
}

async function build(python: string): Promise<void> {
  console.error(`Building ${addon} …`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  run('npm', ['install', '--silent', '--ignore-scripts', '--save-exact', ...packages]);
  const library = join(folder, 'wheel');
  run(python, ['-m', 'pip', 'install', '-q', '--no-deps', '--target', library, wheel]);
  await linkLibrary(join(library, 'tensorflow'), join(addon, 'deps'));
  const headers = dirname(dirname(process.execPath));
  run(join(folder, 'node_modules', '.bin', 'node-gyp'), [
    'rebuild',
    '--silent',
    `--directory=${addon}`,
    '--module_name=tfjs_binding',
    `--module_path=${binding}`,
    `--napi_build_version=${napiVersion}`,
    // Without Node's headers beside it, node-gyp downloads them.
    ...(existsSync(join(headers, 'include', 'node')) ? [`--nodedir=${headers}`] : []),
  ]);
}

/** Links the wheel's files to the paths that the addon expects. */
async function linkLibrary(tensorflow: string, deps: string): Promise<void> {
  const libraries = join(deps, 'lib');
  await mkdir(libraries, { recursive: true });
  await symlink(join(tensorflow, 'include'), join(deps, 'include'));
  for (const [name, file] of [
    ['libtensorflow.so', 'libtensorflow_cc.so.2'],
    ['libtensorflow_cc.so.2', 'libtensorflow_cc.so.2'],
    ['libtensorflow_framework.so', 'libtensorflow_framework.so.2'],
    ['libtensorflow_framework.so.2', 'libtensorflow_framework.so.2'],
  ] as const) {
    await symlink(join(tensorflow, file), join(libraries, name));
  }
}

/** @throws Error if the command fails; its output is on stderr. */
function run(command: string, args: string[]): void {
  const env = { ...process.env, CXXFLAGS: '-std=c++17 -w' };
  const { status } = spawnSync(command, args, { cwd: folder, stdio: ['ignore', 2, 'inherit'], env });
  if (status !== 0) {
    throw new Error(
      `Could not build ${addon}: ${command} ${args[0]} failed. Fix the error above and run again.`,
    );
  }
}
