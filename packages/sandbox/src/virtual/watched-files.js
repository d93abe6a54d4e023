/** The files of a virtual sandbox, in memory. Notes which paths change, so that a copy elsewhere can follow. */
import { InMemoryFs } from 'just-bash';

export class WatchedFiles extends InMemoryFs {
  /** Paths whose entry, and all below it, may have changed since they were last taken. @type {Set<string>} */
  #changed = new Set();

  /** @param {number} bytes */
  constructor(bytes) {
    super({}, { maxTotalBytes: bytes });
  }

  /** The changed paths, outermost first. */
  takeChanged() {
    const changed = [...this.#changed].sort();
    this.#changed.clear();
    return changed;
  }

  /** @param {string} path */
  async #note(path) {
    // Later the path may be gone, and the link through which it was reached.
    const parent = path.replace(/\/[^/]*$/, '') || '/';
    const real = await this.realpath(parent).catch(() => parent);
    this.#changed.add(
      path === '/' ? path : `${real === '/' ? '' : real}${path.slice(path.lastIndexOf('/'))}`,
    );
    // Writing to a link writes to what it names.
    const target = await this.realpath(path).catch(() => undefined);
    if (target !== undefined) this.#changed.add(target);
  }

  /**
   * @template Result
   * @param {string[]} paths
   * @param {() => Promise<Result>} change
   */
  async #changing(paths, change) {
    for (const path of paths) await this.#note(path);
    try {
      return await change();
    } finally {
      for (const path of paths) await this.#note(path);
    }
  }

  /**
   * The outermost folder of a path that is not there yet.
   * @param {string} path
   */
  async #firstLacking(path) {
    const parts = path.split('/');
    for (let length = 2; length < parts.length; length++) {
      const outer = parts.slice(0, length).join('/');
      if (!(await this.exists(outer))) return outer;
    }
    return path;
  }

  /** @override @type {InMemoryFs['writeFile']} */
  writeFile(path, ...rest) {
    return this.#changing([path], () => super.writeFile(path, ...rest));
  }

  /** @override @type {InMemoryFs['appendFile']} */
  appendFile(path, ...rest) {
    return this.#changing([path], () => super.appendFile(path, ...rest));
  }

  /** @override @type {InMemoryFs['mkdir']} */
  async mkdir(path, options) {
    return this.#changing([await this.#firstLacking(path)], () => super.mkdir(path, options));
  }

  /** @override @type {InMemoryFs['rm']} */
  rm(path, options) {
    return this.#changing([path], () => super.rm(path, options));
  }

  /** @override @type {InMemoryFs['cp']} */
  cp(from, to, options) {
    return this.#changing([to], () => super.cp(from, to, options));
  }

  /** @override @type {InMemoryFs['mv']} */
  mv(from, to) {
    return this.#changing([from, to], () => super.mv(from, to));
  }

  /** @override @type {InMemoryFs['chmod']} */
  chmod(path, mode) {
    return this.#changing([path], () => super.chmod(path, mode));
  }

  /** @override @type {InMemoryFs['symlink']} */
  symlink(target, path) {
    return this.#changing([path], () => super.symlink(target, path));
  }

  /** @override @type {InMemoryFs['link']} */
  link(existing, path) {
    return this.#changing([path], () => super.link(existing, path));
  }
}
