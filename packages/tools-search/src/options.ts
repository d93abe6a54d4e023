/** @toolenv/tools-search/options: the options of an index, without LanceDB. The command line makes flags of them. */
export { indexOptionsSchema } from './passages/index-options.ts';
