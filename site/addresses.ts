/** Where the repository and the site are on the web. package.json of the root says it, and everything else follows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './pages.ts';

const root: { homepage: string; repository: { type: string; url: string }; bugs: { url: string } } =
  JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));

/** `https://github.com/<owner>/<name>`. */
export const repositoryAddress: string = root.repository.url.replace(/^git\+|\.git$/g, '');

/** Where the site is published, with `/` at its end: pages that npm shows link to it. */
export const homepage: string = root.homepage;

const filesOfMain = new RegExp(`^${repositoryAddress}/(blob|tree)/main/`);

/** The path and the anchor that an address of the repository shows: `packages/core/spec/v1.md#tools`. */
export function pathInRepository(address: string): string | undefined {
  return filesOfMain.test(address) ? address.replace(filesOfMain, '') : undefined;
}

/** The fields of package.json from which npm's page of a package links to the site and the repository. */
export interface PublicFields {
  homepage: string;
  repository: { type: string; url: string; directory: string };
  bugs: { url: string };
}

/** @param folder Name of the package's folder: `core`. */
export function publicFields(folder: string): PublicFields {
  return {
    homepage: `${root.homepage}packages/${folder}.html`,
    // Without the repository from which it publishes, npm refuses a package with provenance.
    repository: { ...root.repository, directory: `packages/${folder}` },
    bugs: root.bugs,
  };
}

/**
 * Where the site is built for: SITE_ADDRESS, such as `https://example.com/docs/`. Without it, the root of any host, and `host` is
 * undefined.
 */
export function siteAddress(): { host?: string; base: string } {
  const { SITE_ADDRESS: address } = process.env;
  if (!address) return { base: '/' };
  const { origin, pathname } = new URL(address);
  return { host: origin, base: pathname.replace(/\/?$/, '/') };
}
