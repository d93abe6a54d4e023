/** @toolenv/view: the pages of toolenv. */
export { serveView, type View, type ViewOptions } from './serve-view.ts';
export type { TokenTexts } from './token-texts.ts';
