/** Patterns of tokenizers that are known to take linear time. Others may be malicious. */

const llama3 = contractionsThen('\\p{N}{1,3}');
const qwen2 = contractionsThen('\\p{N}');
/** Marks belong to the letters that they follow. */
const qwen35 = contractionsThen('\\p{N}', '[\\p{L}\\p{M}]', '\\p{L}\\p{M}');
/** The pattern by which ByteLevel splits text. */
export const gpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

const linear: readonly unknown[] = [llama3, qwen2, qwen35, gpt2, '\\p{N}', '\\p{N}{1,3}', '\\s+', ' +'];

/** Whether each regular expression in a part of tokenizer.json is known to take linear time. */
export function hasLinearPatterns(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return true;
  return Object.entries(part).every(([key, value]) =>
    key === 'Regex' ? linear.includes(value) : hasLinearPatterns(value),
  );
}

function contractionsThen(number: string, letter = '\\p{L}', letters = '\\p{L}'): string {
  return `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?${letter}+|${number}| ?[^\\s${letters}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
}
