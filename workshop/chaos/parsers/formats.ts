/** The formats in which models write calls. */
import {
  hermesFormat,
  llamaFormat,
  mistralFormat,
  type ToolCallFormat,
} from '../../../packages/policy/src/chat/tool-call-formats.ts';

export const formats: Readonly<Record<string, ToolCallFormat>> = {
  hermes: hermesFormat,
  llama: llamaFormat,
  mistral: mistralFormat,
};
