/** fitImages: the images of an observation for the policy that reads it: as they are, or as words. */
import { ToolEnvError } from '../protocol/errors.ts';
import { imagesOf, type Message, type Observation } from '../protocol/message.ts';
import type { PolicySpec } from '../protocol/policy.ts';

/** `placeholder`: a policy that reads no images gets their names in brackets. `refuse`: the run stops instead. */
export type OnImages = 'placeholder' | 'refuse';

/** @throws ToolEnvError `usage.images` if the policy reads no images, and images are to be refused. */
export function fitImages(
  observation: Observation,
  { name, capabilities }: PolicySpec,
  onImages: OnImages = 'placeholder',
): Observation {
  if (capabilities?.images === true || !observation.messages.some((message) => imagesOf(message).length > 0))
    return observation;
  if (onImages === 'refuse') {
    const remedy =
      'choose a policy that does, such as openai:<url>#<model> with --send-images, or set onImages (--on-images) to placeholder';
    throw new ToolEnvError(
      'usage.images',
      `The environment shows images, and ${name} reads none: ${remedy}.`,
    );
  }
  return { ...observation, messages: observation.messages.map(inWords) };
}

/** The text of a tool's result names its images already. */
function inWords(message: Message): Message {
  const images = imagesOf(message);
  if (images.length === 0) return message;
  const { images: _, ...rest } = message as Message & { images: unknown };
  if (message.role === 'tool') return rest as Message;
  const names = images.map(({ mimeType }) => `[${mimeType}]`);
  return { ...rest, content: [message.content, ...names].join('\n') } as Message;
}
