/** fitImages: the images of an observation for the policy that reads it: as they are, or as words. */
import { ToolEnvError } from '../protocol/errors.ts';
import { imagesOf, type Message, type Observation } from '../protocol/message.ts';
import type { PolicySpec } from '../protocol/policy.ts';

/** `placeholder`: a policy that reads no images gets their names in brackets. `refuse`: the run stops instead. */
export type OnImages = 'placeholder' | 'refuse';

/** The policies that play blind, each of which is named once. */
const warned: WeakSet<PolicySpec> = new WeakSet();

/** @throws ToolEnvError `usage.images` if the policy reads no images, and images are to be refused. */
export function fitImages(
  observation: Observation,
  spec: PolicySpec,
  onImages: OnImages = 'placeholder',
): Observation {
  const { name, capabilities } = spec;
  if (capabilities?.images === true || !observation.messages.some((message) => imagesOf(message).length > 0))
    return observation;
  const problem = `The environment shows images, and ${name} reads none`;
  const remedy = 'choose a policy that does, such as openai:<url>#<model> with --send-images';
  if (onImages === 'refuse')
    throw new ToolEnvError(
      'usage.images',
      `${problem}: ${remedy}, or set onImages (--on-images) to placeholder.`,
    );
  if (!warned.has(spec)) {
    warned.add(spec);
    // In a browser there is none.
    globalThis.process?.emitWarning?.(
      `${problem}: it reads their types in brackets instead, and plays blind. Better ${remedy}.`,
      'Images',
    );
  }
  return { ...observation, messages: observation.messages.map(imagesAsText) };
}

/** The text of a tool's result names its images already. */
function imagesAsText(message: Message): Message {
  const images = imagesOf(message);
  if (images.length === 0) return message;
  const { images: _, ...rest } = message as Message & { images: unknown };
  if (message.role === 'tool') return rest as Message;
  const names = images.map(({ mimeType }) => `[${mimeType}]`);
  return { ...rest, content: [message.content, ...names].join('\n') } as Message;
}
