/** arrangeHelp: the help of a command begins with the options that matter, and ends with examples. `--help --all` has all options. */
import { type Command, Help, type Option } from 'commander';
import { plural } from '../display/number-text.ts';
import { helpGroup, helpHeadings, helpTexts } from './help-texts.ts';

/** Options that the short help has too: those of the environment that the command line names. */
const always: WeakSet<Option> = new WeakSet();

export function alwaysShow(option: Option): void {
  always.add(option);
}

/** @param isWhole Whether to show all options. */
export function arrangeHelp(command: Command, isWhole: boolean): void {
  const { first: named, examples = [] } = helpTexts[command.name()] ?? {};
  const first = named?.split(' ');
  if (first) describeHelp(command);
  if (first && isWhole) group(command);
  if (first && !isWhole) showFirst(command, first);
  if (examples.length === 0) return;
  const width = () => (process.stdout.isTTY ? process.stdout.columns || 80 : 80);
  const lines = () => examples.map((each) => wrapped(each, width())).join('\n');
  command.addHelpText('after', () => `\nExamples:\n${lines()}`);
}

function describeHelp(command: Command): void {
  command.configureHelp({
    ...command.configureHelp(),
    optionDescription(option) {
      if (option.long === '--help') return 'show this help, which has all options with --all';
      return Help.prototype.optionDescription.call(this, option);
    },
  });
}

/** Shows the options in groups: first those of the command itself, last those of plugins. */
function group(command: Command): void {
  command.configureHelp({
    ...command.configureHelp(),
    groupItems(_, items, groupOf) {
      const headingOf = (item: (typeof items)[number]) =>
        always.has(item as Option) ? groupOf(item) : (helpGroup((item as Option).long) ?? groupOf(item));
      const groups = new Map(['Options:', ...helpHeadings].map((heading) => [heading, [] as typeof items]));
      for (const item of items) groups.set(headingOf(item), [...(groups.get(headingOf(item)) ?? []), item]);
      return groups;
    },
  });
}

/** Shows the options that matter first, and the number of the others. */
function showFirst(command: Command, first: readonly string[]): void {
  const chosen = (visible: readonly Option[]) => {
    const named = first.flatMap((flag) => visible.find(({ long }) => long === flag) ?? []);
    return [...named, ...visible.filter((option) => always.has(option) || option.long === '--help')];
  };
  command.configureHelp({
    ...command.configureHelp(),
    visibleOptions(of) {
      return chosen(Help.prototype.visibleOptions.call(this, of));
    },
    groupItems(_, items, groupOf) {
      const groups = new Map<string, typeof items>([['Options:', []]]);
      for (const item of items) {
        const heading = always.has(item as Option) ? groupOf(item) : 'Options:';
        groups.set(heading, [...(groups.get(heading) ?? []), item]);
      }
      return groups;
    },
  });
  command.addHelpText('after', () => {
    const visible = Help.prototype.visibleOptions.call(command.createHelp(), command);
    const more = plural(visible.length - chosen(visible).length, 'more option');
    return `\n${more}: toolenv ${command.name()} --help --all`;
  });
}

/** A command in several lines of a shell, if it is longer than the terminal. A flag stays beside its value. */
function wrapped(text: string, width: number): string {
  const lines: string[] = [];
  let line = ' ';
  for (const part of text.split(/ (?=--)/)) {
    // Room for the mark of a line that goes on.
    if (line.trim() !== '' && line.length + 1 + part.length + 2 > width) {
      lines.push(`${line} \\`);
      line = '   ';
    }
    line += ` ${part}`;
  }
  return [...lines, line].join('\n');
}
