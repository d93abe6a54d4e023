/** The formats in which models write calls. */
import { hermesFormat, llamaFormat, mistralFormat, type ToolCallFormat } from '@toolenv/core/tools';

export const formats: Readonly<Record<string, ToolCallFormat>> = {
  hermes: hermesFormat,
  llama: llamaFormat,
  mistral: mistralFormat,
};
