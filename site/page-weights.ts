/** What a page of the built site weighs: the bytes that a browser loads to show it, compressed as a server sends them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Bytes. */
const most = 300_000;

/**
 * A line for each page that weighs more than 300 kB, and the heaviest page. Counted are the page, its scripts, its style sheets and
 * its pictures, without pictures that load when a reader comes to them (`loading="lazy"`). The playground has its own scripts.
 *
 * @param base The path of the site on its host, with `/` at its end.
 */
export function pageWeights(site: string, base: string): { tooHeavy: string[]; heaviest: string } {
  const sizes = new Map<string, number>();
  const sizeOf = (file: string) => {
    const known = sizes.get(file);
    if (known !== undefined) return known;
    const size = existsSync(join(site, file)) ? compressed(file, readFileSync(join(site, file))) : 0;
    sizes.set(file, size);
    return size;
  };
  const weights = readdirSync(site, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.html') && !file.startsWith('playground/'))
    .map((file): [file: string, bytes: number] => {
      const loaded = new Set(loadedBy(readFileSync(join(site, file), 'utf8')));
      const parts = [...loaded].map((link) => sizeOf(decodeURIComponent(link.replace(base, ''))));
      return [file, parts.reduce((sum, bytes) => sum + bytes, sizeOf(file))];
    })
    .sort(([, one], [, other]) => other - one);
  const lines = weights.map(([file, bytes]) => `${file} weighs ${Math.ceil(bytes / 1000)} kB`);
  return {
    tooHeavy: lines.slice(0, weights.filter(([, bytes]) => bytes > most).length),
    heaviest: lines[0] ?? '',
  };
}

/** Files that the page loads at once. */
function loadedBy(html: string): string[] {
  const tags = [...html.matchAll(/<(?:script|img|link)\b[^>]*>/g)].map(([tag]) => tag);
  return tags
    .filter((tag) => !tag.includes('loading="lazy"'))
    .filter(
      (tag) =>
        !tag.startsWith('<link') || /\brel="(?:preload stylesheet|stylesheet|modulepreload|icon)"/.test(tag),
    )
    .flatMap((tag) => /\s(?:src|href)="(\/[^"]*)"/.exec(tag)?.[1] ?? []);
}

function compressed(file: string, bytes: Buffer): number {
  return /\.(png|jpg|webp|woff2)$/.test(file) ? bytes.length : gzipSync(bytes).length;
}
