/** Whether this machine has a PyTorch. */
import { findLibtorch } from '../src/find-libtorch.ts';

export const hasLibtorch: boolean = (() => {
  try {
    findLibtorch();
    return true;
  } catch {
    return false;
  }
})();
if (!hasLibtorch) console.log('Skipped: this machine has no PyTorch. TOOLENV_LIBTORCH names its folder lib.');
