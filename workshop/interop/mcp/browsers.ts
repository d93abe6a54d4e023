/** Playwright's and Chrome DevTools' servers, each with Debian's Chromium, or the program that CHROMIUM names. */
import { existsSync } from 'node:fs';
import type { McpCommand } from '@toolenv/mcp';
import { npmPeer, type Peer } from './peers.ts';

/** Tool, arguments. */
export type Call = [string, Record<string, unknown>];

export interface Browser {
  title: string;
  /**
   * @param folder Where the server runs, and writes its files.
   * @param scratch Where the browser has its profile. The arguments of its processes name this folder.
   */
  server(folder: string, scratch: string): McpCommand;
  /** In alphabetical order. */
  tools: string[];
  open(url: string): Call;
  look: Call;
  /** @param button Its name in a snapshot of the page. */
  click(button: string, snapshot: string): Call;
  /** What the model reads of {@link open}, {@link look}, {@link click} and {@link look}, at this URL. */
  reads(url: string): (string | RegExp)[];
}

const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** @throws Error without a Chromium. */
export function findBrowsers(): Browser[] {
  if (!existsSync(chromium))
    throw new Error(`${chromium} is missing: install Chromium, or name it in CHROMIUM.`);
  return [playwright(), chromeDevTools()];
}

function playwright(): Browser {
  const peer = npmPeer('@playwright/mcp', '0.0.83', 'cli.js');
  const flags = ['--headless', '--isolated', '--no-sandbox', '--executable-path', chromium];
  const page = (url: string) => `### Page\n- Page URL: ${url}\n- Page Title: Shop\n### Snapshot\n`;
  /** A pattern of the link to a snapshot. */
  const file = '- \\[Snapshot\\]\\(.playwright-mcp/page-[\\dTZ-]+.yml\\)';
  const ran = (code: string) => `### Ran Playwright code\n\`\`\`js\nawait page.${code};\n\`\`\`\n`;
  const snapshot = (...lines: string[]) =>
    [
      '```yaml',
      '- generic [active] [ref=e1]:',
      '  - heading "Shop" [level=1] [ref=e2]',
      ...lines,
      '```',
    ].join('\n');
  return {
    title: 'Playwright',
    server: commandOf(peer, flags),
    tools: [
      ...'browser_click browser_close browser_console_messages browser_drag browser_drop'.split(' '),
      ...'browser_emulate_media browser_evaluate browser_file_upload browser_fill_form browser_find'.split(
        ' ',
      ),
      ...'browser_handle_dialog browser_hover browser_navigate browser_navigate_back'.split(' '),
      ...'browser_network_request browser_network_requests browser_press_key browser_resize'.split(' '),
      ...'browser_run_code_unsafe browser_select_option browser_snapshot browser_tabs'.split(' '),
      ...'browser_take_screenshot browser_type browser_wait_for'.split(' '),
    ],
    open: (url) => ['browser_navigate', { url }],
    look: ['browser_snapshot', {}],
    click: (button, read) => [
      'browser_click',
      { target: reference(read, `button "${button}" \\[ref=(\\w+)\\]`) },
    ],
    reads: (url) => [
      new RegExp(`^${literal(ran(`goto('${url}')`) + page(url))}${file}$`),
      page(url) + snapshot('  - button "Buy apple" [ref=e3]', '  - button "Buy pear" [ref=e4]'),
      new RegExp(`^${literal(ran("getByRole('button', { name: 'Buy pear' }).click()") + page(url))}${file}$`),
      page(url) + snapshot('  - button "Buy apple" [ref=e3]', '  - text: Sold pear'),
    ],
  };
}

function chromeDevTools(): Browser {
  const bin = 'build/src/bin/chrome-devtools-mcp.js';
  const peer = npmPeer('chrome-devtools-mcp', '1.11.0', bin);
  const local = ['--no-usage-statistics', '--no-performance-crux'];
  const flags = [
    '--headless',
    '--isolated',
    '--chromeArg=--no-sandbox',
    '--executablePath',
    chromium,
    ...local,
  ];
  const pageId = 1;
  const snapshot = (url: string, ...lines: string[]) =>
    [
      '## Latest page snapshot',
      `uid=1_0 RootWebArea "Shop" url="${url}"`,
      '  uid=1_1 heading "Shop" level="1"',
      ...lines,
    ]
      .map((line) => `${line}\n`)
      .join('');
  return {
    title: 'Chrome DevTools',
    server: commandOf(peer, flags),
    tools: [
      ...'click close_page drag emulate evaluate_script fill fill_form get_console_message'.split(' '),
      ...'get_css_styles get_network_request handle_dialog hover lighthouse_audit'.split(' '),
      ...'list_console_messages list_network_requests list_pages navigate_page new_page'.split(' '),
      ...'performance_analyze_insight performance_start_trace performance_stop_trace press_key'.split(' '),
      ...'resize_page screencast_start screencast_stop select_page take_heapsnapshot'.split(' '),
      ...'take_screenshot take_snapshot type_text upload_file wait_for'.split(' '),
    ],
    open: (url) => ['navigate_page', { pageId, type: 'url', url }],
    look: ['take_snapshot', { pageId }],
    click: (button, read) => ['click', { pageId, uid: reference(read, `uid=(\\S+) button "${button}"`) }],
    reads: (url) => [
      `Successfully navigated to ${url}.\n## Pages\n1: Shop (${url}) [selected]`,
      snapshot(url, '  uid=1_2 button "Buy apple"', '  uid=1_3 button "Buy pear"'),
      'Successfully clicked on the element',
      snapshot(url, '  uid=1_2 button "Buy apple"', '  uid=2_0 "Sold pear"'),
    ],
  };
}

function commandOf({ command, args }: Peer, flags: string[]): Browser['server'] {
  return (cwd, scratch) => ({ command, args: [...args, ...flags], cwd, env: { TMPDIR: scratch } });
}

function reference(snapshot: string, pattern: string): string {
  return new RegExp(pattern).exec(snapshot)?.[1] ?? 'no reference';
}

function literal(text: string): string {
  return text.replace(/[[\]().?*+^$\\{}|]/g, '\\$&');
}
