/** `npm run interop -- hub`: shares the cache of the Hugging Face Hub with Python's huggingface_hub, against a stand-in of the Hub. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchModel } from '@toolenv/hub';
import { StandInHub } from '../../packages/hub/test/stand-in-hub.ts';
import { closing } from '../closing.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { check } from './check.ts';
import { jsonOf } from './programs.ts';

const name = 'toolenv/tiny-chat';
const checkpoint = join(import.meta.dirname, '../../packages/checkpoints/tiny');

/** @param python Has the package of hub.txt. */
export async function checkHub(python: string): Promise<void> {
  await using scratch = await scratchFolder();
  await using hub = closing(await new StandInHub().listen());
  const names = await readdir(checkpoint);
  const contents = names.map(async (each) => [each, await readFile(join(checkpoint, each))] as const);
  hub.add(name, Object.fromEntries(await Promise.all(contents)));
  const set = (home: string, offline = '') =>
    Object.assign(process.env, {
      HF_ENDPOINT: hub.url,
      HF_HOME: join(scratch.path, home),
      HF_HUB_OFFLINE: offline,
      HF_HUB_DISABLE_XET: '1',
      HF_HUB_DISABLE_TELEMETRY: '1',
    });
  const weights = () => hub.parts('storage').length;
  set('ours');
  const ours = await fetchModel(name);
  set('ours', '1');
  const scanned = await jsonOf(python, [
    '-c',
    `import json; from huggingface_hub import scan_cache_dir, snapshot_download
found = scan_cache_dir()
print(json.dumps([snapshot_download('${name}', local_files_only=True), len(found.warnings), [[r.repo_id, r.nb_files] for r in found.repos]]))`,
  ]);
  const expected = JSON.stringify([ours?.folder, 0, [[name, names.length]]]);
  check(JSON.stringify(scanned) === expected, 'hub: Python finds a model that toolenv fetched', `${scanned}`);
  set('ours');
  const download = (...files: string[]) =>
    jsonOf(python, [
      '-c',
      `import json; from huggingface_hub import hf_hub_download
print(json.dumps([hf_hub_download('${name}', file) for file in ${JSON.stringify(files)}]))`,
    ]);
  await download('model.safetensors');
  check(weights() === 1, 'hub: Python does not download its weights again', `${weights()} downloads`);

  set('python');
  await download(...names);
  const before = weights();
  set('python', '1');
  const offline = await fetchModel(name);
  check(
    offline?.revision === ours?.revision,
    'hub: toolenv opens what Python fetched, offline',
    `${offline?.revision}`,
  );
  set('python');
  await fetchModel(name);
  check(
    weights() === before,
    'hub: and does not download its weights again',
    `${weights() - before} downloads`,
  );
}
