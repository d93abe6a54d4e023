/** node:module in a tab. The checks of `@toolenv/testing` read the titles of the rules in the spec, which is in memory. */
import { fs } from 'memfs';
import spec from '../../../packages/core/spec/v1.md?raw';

export { default } from 'unenv/node/module';

const folder = '/packages/@toolenv/core/spec';
fs.mkdirSync(folder, { recursive: true });
fs.writeFileSync(`${folder}/v1.md`, spec);

/** Knows where the packages would be. */
export function createRequire(): { resolve(name: string): string } {
  return { resolve: (name) => `/packages/${name}` };
}

/** No package is checked for its imports here. */
export const isBuiltin = (): boolean => false;
