/** VitePress's theme without its fonts, in the colours of toolenv. The home page shows the curves of the demo. */
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import curves from '../../../docs/demo/curves.svg?url';
import './style.css';

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'home-hero-image': () =>
        h('img', {
          class: 'curves',
          src: curves,
          alt: 'Reward and exact match of the demo, which rise over 80 steps of training',
        }),
    }),
};
export default theme;
