/** Certificates as files: what was measured as JSON, a badge as SVG, and the badges in the README of a package. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ensureDir, writeAtomic } from '@toolenv/core/files';
import type { Certificate, CertificateReport, Report } from '@toolenv/testing';
import { runVersions } from '@toolenv/training';

/**
 * Writes `<environment>.json` and `<environment>.svg` for each environment with a certificate.
 * @param subject What was checked: if it is the folder of a package, its README shows the badges.
 * @returns The files.
 */
export async function writeCertificates(
  folder: string,
  reports: readonly (Report | CertificateReport)[],
  subject: string,
): Promise<string[]> {
  const given = reports.flatMap((report) => {
    const { certificate } = report as CertificateReport;
    return certificate && report.ok ? [{ certificate, passed: report.passed }] : [];
  });
  if (given.length === 0) return [];
  await ensureDir(folder);
  const { node, packages, commit } = await runVersions(undefined);
  const [date] = new Date().toISOString().split('T');
  const files: string[] = [];
  const badges: string[] = [];
  for (const { certificate, passed } of given) {
    const name = certificate.env.split('/').at(-1)!;
    const content = { ...certificate, rules: passed, node, packages, ...(commit && { commit }), date };
    const [json, badge] = [join(folder, `${name}.json`), join(folder, `${name}.svg`)];
    await writeAtomic(json, `${JSON.stringify(content, null, 2)}\n`);
    await writeAtomic(badge, badgeOf(certificate));
    files.push(json, badge);
    badges.push(
      `[![${name}: certified by toolenv](${slashes(relative(subject, badge))})](${slashes(relative(subject, json))})`,
    );
  }
  const readme = join(subject, 'README.md');
  if (existsSync(join(subject, 'package.json')) && existsSync(readme)) {
    await writeAtomic(readme, withBadges(await readFile(readme, 'utf8'), badges));
    files.push(readme);
  }
  return files;
}

function slashes(path: string): string {
  return path.replaceAll('\\', '/');
}

const [begin, end] = ['<!-- certificates -->', '<!-- /certificates -->'];

/** The README with the badges between their marks, or below its first heading if it has no marks. */
function withBadges(readme: string, badges: readonly string[]): string {
  const block = `${begin}\n${badges.join('\n')}\n${end}`;
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from >= 0 && to > from) return readme.slice(0, from) + block + readme.slice(to + end.length);
  const heading = /^# .*\n/m.exec(readme);
  const at = heading ? heading.index + heading[0].length : 0;
  return `${readme.slice(0, at)}\n${block}\n\n${readme.slice(at).trimStart()}`;
}

/** Width of a letter of the badge in pixels, on average. */
const letter = 6.6;

/** `toolenv certified | safe-v1 1.2.0`. */
function badgeOf({ env, version: own }: Pick<Certificate, 'env' | 'version'>): string {
  const label = 'toolenv certified';
  const text = [env.split('/').at(-1)!, ...(own === undefined ? [] : [own])].join(' ');
  const [left, right] = [label, text].map((said) => Math.round(said.length * letter + 12)) as [
    number,
    number,
  ];
  const word = (said: string, x: number) =>
    `<text x="${x}" y="14" text-anchor="middle" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${escaped(said)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${escaped(`${label}: ${text}`)}">
<rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="#17723f"/>
${word(label, left / 2)}${word(text, left + right / 2)}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
