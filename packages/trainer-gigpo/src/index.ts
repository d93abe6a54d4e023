export { type AnchorStateOptions, anchorState } from './anchor-state.ts';
export { default, gigpo } from './gigpo.ts';
