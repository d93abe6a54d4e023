/** Checks every link of the built site: its page or file exists, and the page has the anchor. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

interface Page {
  anchors: ReadonlySet<string>;
  links: readonly string[];
}

/** A line for each link that leads nowhere. `base` is the path of the site on its host. */
export function brokenLinks(site: string, base: string): string[] {
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' }).map((name) =>
    name.replaceAll('\\', '/'),
  );
  const pages = new Map(
    files.filter((file) => file.endsWith('.html')).map((file) => [file, read(join(site, file))]),
  );
  return [...pages].flatMap(([file, { links }]) =>
    links
      .filter((link) => !leadsSomewhere(link, file, { site, base, pages }))
      .map((link) => `${file}: ${link} leads nowhere`),
  );
}

function read(file: string): Page {
  const html = readFileSync(file, 'utf8');
  return {
    anchors: new Set([...html.matchAll(/\sid="([^"]+)"/g)].map((match) => textOf(match[1]!))),
    links: [
      ...new Set(
        [...html.matchAll(/<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="([^"]*)"/g)].map((match) =>
          textOf(match[1]!),
        ),
      ),
    ],
  };
}

function leadsSomewhere(
  link: string,
  file: string,
  { site, base, pages }: { site: string; base: string; pages: ReadonlyMap<string, Page> },
): boolean {
  if (/^([a-z]+:)?\/\/|^(mailto|data):/i.test(link)) return true;
  const { pathname, hash } = new URL(link, `file://${base}${file}`);
  if (!pathname.startsWith(base)) return false;
  const path = decodeURIComponent(pathname.slice(base.length));
  const target = path === '' || path.endsWith('/') ? posix.join(path, 'index.html') : path;
  const page = pages.get(target);
  if (page === undefined) return existsSync(join(site, target)) && statSync(join(site, target)).isFile();
  return hash === '' || page.anchors.has(decodeURIComponent(hash.slice(1)));
}

/** HTML's attributes escape few characters. */
function textOf(attribute: string): string {
  return attribute
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
