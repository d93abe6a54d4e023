/** The formats in which models write calls, by name. */
import { callFormats, type ToolCallFormat } from '@toolenv/core/tools';

export const formats: Readonly<Record<string, ToolCallFormat>> = Object.fromEntries(
  callFormats.map((format) => [format.name, format]),
);
