/** A plugin of Vite that writes the licences of the bundled packages. Vite's own option leaves out what a worker bundles. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** @param fileName Of the page or of the worker, which are separate builds in one folder. */
export function thirdPartyLicenses(fileName: string): Plugin {
  return {
    name: 'third-party-licenses',
    apply: 'build',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      const inPackage = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
      const folders = new Set(modules.flatMap((id) => inPackage.exec(id)?.[1] ?? []));
      const sections = [...folders].sort().map(sectionOf);
      this.emitFile({
        type: 'asset',
        fileName,
        source: `# Licences of third parties\n\n${sections.join('\n')}`,
      });
    },
  };
}

function sectionOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `## ${name} - ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}
