/** The images that a conversation shows: those of tool results, within bounds. */
import type { ImageBlock, Message } from '../protocol/message.ts';
import { imageMistake, imagesOf } from '../protocol/message.ts';
import type { ToolResult } from '../protocol/tool.ts';

/** Base64 characters of all images that a policy reads at once. */
const maxImagesLength = 8 * 2 ** 20;

/** The images of a result that a model can read. The text of the result names the others too. */
export function resultImages(result: ToolResult | undefined): ImageBlock[] {
  const images = (result?.content ?? []).filter((block) => block.type === 'image') as ImageBlock[];
  return images
    .filter((image) => imageMistake(image) === undefined)
    .map(({ data, mimeType }) => ({ type: 'image', data, mimeType }));
}

/** The messages with the newest images, as far as they fit. The oldest are left out. */
export function withNewestImages(messages: readonly Message[]): Message[] {
  let left = maxImagesLength;
  const kept = [...messages];
  for (let index = kept.length - 1; index >= 0; index--) {
    const images = imagesOf(kept[index]!);
    if (images.length === 0) continue;
    const shown = images.filter(({ data }) => {
      left -= data.length;
      return left >= 0;
    });
    if (shown.length === images.length) continue;
    const { images: _, ...rest } = kept[index] as Message & { images: unknown };
    kept[index] = (shown.length > 0 ? { ...rest, images: shown } : rest) as Message;
  }
  return kept;
}
