/** dieWithParent: a process that is stopped, or in a call that never ends, cannot notice that its parent is gone. */
import koffi from 'koffi';

/** PR_SET_PDEATHSIG of linux/prctl.h. */
const setParentDeathSignal = 1;
const sigkill = 9;

/** From now on, Linux kills this process when its parent ends. Elsewhere the process ends once it notices that the channel is closed. */
export function dieWithParent(): void {
  if (process.platform !== 'linux') return;
  const prctl = koffi.load(null).func('prctl', 'int', ['int', 'unsigned long']);
  prctl(setParentDeathSignal, sigkill);
}
