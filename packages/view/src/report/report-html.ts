/** reportHtml: the page of the viewer and what it shows, in one file that loads nothing. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ToolEnvError } from '@toolenv/core';
import type { ReportData } from './report-data.ts';

/** The page as one script and one style sheet, as they were built into the package. */
const folder = join(import.meta.dirname, '..', '..', 'dist', 'report-page');

export interface ReportParts {
  script: string;
  style: string;
  licenses: string;
}

/** @throws ToolEnvError `usage.page_not_built` in a checkout of the repository that has not built it. */
export async function readReportParts(): Promise<ReportParts> {
  try {
    const names = ['report.js', 'report.css', 'third-party-licenses.md'];
    const [script, style, licenses] = await Promise.all(
      names.map((name) => readFile(join(folder, name), 'utf8')),
    );
    return { script: script!, style: style!, licenses: licenses! };
  } catch (error) {
    const message = `The page of reports is not in ${folder}: build it, which takes seconds, with npm run build -w @toolenv/view.`;
    throw new ToolEnvError('usage.page_not_built', message, { cause: error });
  }
}

/**
 * The data are compressed and in Base64, so no text of an episode is part of the document. The policy of the page allows its own
 * script and nothing from elsewhere.
 */
export function reportHtml(data: ReportData, { script, style, licenses }: ReportParts): string {
  // An inline script ends at the first such text, and so does a style sheet.
  const program = script.replaceAll(/<\/(script)/gi, '<\\/$1').replaceAll('<!--', '\\x3C!--');
  const sheet = style.replaceAll(/<\/(style)/gi, '<\\/$1');
  const hash = createHash('sha256').update(program).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`;
  const title = `toolenv: ${data.runs.map(({ head }) => head.name).join(', ')}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${sheet}</style>
</head>
<body>
<div id="page"></div>
<noscript>This report needs JavaScript.</noscript>
<script type="text/plain" id="report">${gzipSync(JSON.stringify(data), { level: 9 }).toString('base64')}</script>
<template id="licenses">${escaped(licenses)}</template>
<script type="module">${program}</script>
</body>
</html>
`;
}

function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' };
  return text.replaceAll(/[<>&"]/g, (character) => names[character]!);
}
