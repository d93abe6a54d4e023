/** MakeCommand: what the file of each command exports. */
import type { Command } from 'commander';

/**
 * Gives the command its description, arguments, flags and action.
 * @param words The words after the command's name: they may name plugins, whose options are flags too.
 */
export type MakeCommand = (
  command: Command,
  context: { words: readonly string[]; signal: AbortSignal },
) => void | Promise<void>;
