/** The versions of PyTorch that this package knows. */

/** The oldest version that has `torch_call_dispatcher`. */
export const minVersion = [2, 10] as const;

/** The version that `toolenv engine install libtorch` fetches: the newest that is tested. */
export const testedVersion = '2.15.0';
