/** A part of `npm run version`: the Python package in `@toolenv/openenv` gets the version that changesets gave to all packages. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../packages/openenv');
const { version }: { version: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const file = join(folder, 'python/pyproject.toml');
writeFileSync(file, readFileSync(file, 'utf8').replace(/^version = ".*"$/m, `version = "${version}"`));
