/** VitePress's theme without its fonts, in the colours of toolenv. The home page has a command, and the playground once a reader asks for it; the gallery has filters. */
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import { CopiedCommand } from './copied-command.ts';
import { GalleryFilter } from './gallery-filter.ts';
import { LivePicture, PlaygroundFrame } from './live-picture.ts';
import { rememberPackageManager } from './package-manager.ts';
import './style.css';

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'home-hero-info-after': () => h(CopiedCommand, { command: 'npm create toolenv' }),
      'home-hero-image': () => h(LivePicture),
      'home-hero-after': () => h(PlaygroundFrame),
      'doc-before': () => h(GalleryFilter),
    }),
  setup: rememberPackageManager,
};
export default theme;
