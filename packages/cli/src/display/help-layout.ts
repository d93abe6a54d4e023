/** The layout of `--help`. Long flags get their own line, so that descriptions wrap in 80 columns. */
import { Help } from 'commander';

/** Width of the column of flags. Commander wraps a description only if it has 40 columns. */
const widest = 34;

export const helpLayout: Partial<Help> = {
  subcommandTerm: (command) => `${command.name()} ${command.usage()}`,
  padWidth(command, helper) {
    return Math.min(widest, Help.prototype.padWidth.call(this, command, helper));
  },
  formatItem(term, width, description, helper) {
    const format = (text: string) => Help.prototype.formatItem.call(this, text, width, description, helper);
    return helper.displayWidth(term) > width ? `  ${term}\n${format('')}` : format(term);
  },
};
