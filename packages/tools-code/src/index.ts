/** @toolenv/tools-code: tools that run code. */
export { createBash } from './bash-v1.ts';
export {
  type CodeMaterial,
  EpisodeSandboxes,
  type SandboxSource,
} from './episode-sandboxes.ts';
export { createFiles, type FileRequest } from './files-v1.ts';
export { createPython, type PythonOptions } from './python-v1.ts';
