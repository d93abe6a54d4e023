/** Colours where stdout shows them: `NO_COLOR`, pipes and files get none. */
import { styleText } from 'node:util';
import { ownSequence } from './guarded-output.ts';

type Style = Extract<Parameters<typeof styleText>[0], string>;

export function paint(styles: Style | readonly Style[], text: string): string {
  // Node 20 does not ask the stream if it is given an array of styles.
  return [styles].flat().reduce((painted, style) => {
    const [begin = '', end = ''] = styleText(style, '|', { stream: process.stdout }).split('|');
    return ownSequence(begin) + painted + ownSequence(end);
  }, text);
}
