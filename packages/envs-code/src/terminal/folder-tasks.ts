/** Folder tasks of terminal-v1: files are chosen in some way, and something is done to them. */
import { deriveSeed, type Rng, type Split } from '@toolenv/core';
import { type Drawn, drawTableTask, type TerminalTask } from './table-tasks.ts';

type Files = Record<string, string>;

const folders = ['', 'notes/', 'logs/', 'plans/', 'plans/old/'];
const extensions = ['txt', 'log', 'md', 'cfg'];
const stems = [
  'alder',
  'birch',
  'cedar',
  'elm',
  'fir',
  'hazel',
  'larch',
  'maple',
  'oak',
  'pine',
  'rowan',
  'yew',
];
const words = [
  'amber',
  'basin',
  'canal',
  'delta',
  'ember',
  'fjord',
  'grove',
  'haven',
  'inlet',
  'knoll',
  'ledge',
];
/** In some of the files. */
const keywords = ['urgent', 'archive', 'review'];

function drawFiles(rng: Rng): Files {
  const files = rng
    .shuffle(stems)
    .slice(0, 8 + rng.int(5))
    .map((stem): [string, string] => {
      const lines = Array.from({ length: 1 + rng.int(9) }, () => {
        const line = Array.from({ length: 2 + rng.int(3) }, () => rng.pick(words));
        return (rng.int(8) === 0 ? [...line, rng.pick(keywords)] : line).join(' ');
      });
      return [`${rng.pick(folders)}${stem}.${rng.pick(extensions)}`, `${lines.join('\n')}\n`];
    });
  return Object.fromEntries(files);
}

function linesOf(content: string): string[] {
  return content.trimEnd().split('\n');
}

interface Choice {
  says: string;
  fits(path: string, content: string): boolean;
  /** Prints the paths, each behind `./`. */
  command: string;
}

const choices: Readonly<Record<string, (rng: Rng) => Choice>> = {
  extension(rng) {
    const extension = rng.pick(extensions);
    return {
      says: `all files, in every folder, whose name ends with .${extension}`,
      fits: (path) => path.endsWith(`.${extension}`),
      command: `find . -type f -name '*.${extension}'`,
    };
  },
  word(rng) {
    const word = rng.pick(keywords);
    return {
      says: `all files, in every folder, that contain the word ${word}`,
      fits: (_, content) => content.includes(word),
      command: `grep -rl ${word} .`,
    };
  },
  length(rng) {
    const lines = 3 + rng.int(4);
    return {
      says: `all files, in every folder, that have more than ${lines} lines`,
      fits: (_, content) => linesOf(content).length > lines,
      command: `find . -type f | while read -r f; do if [ $(wc -l < "$f") -gt ${lines} ]; then echo "$f"; fi; done`,
    };
  },
  folder(rng) {
    const folder = rng.pick(folders.slice(1));
    return {
      says: `all files in the folder ${folder.slice(0, -1)} and in the folders below it`,
      fits: (path) => path.startsWith(folder),
      command: `find ./${folder.slice(0, -1)} -type f`,
    };
  },
};

interface Deed {
  /** What to do to `%`. */
  says: string;
  gold(chosen: string[], files: Files): Files;
  /** The paths are in the file /tmp/chosen, sorted. */
  command: string;
}

const each = (command: string) => `while read -r f; do ${command}; done < /tmp/chosen`;

function without(files: Files, paths: readonly string[]): Files {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !paths.includes(path)));
}

/** The files with some of them at another path. */
function moved(files: Files, paths: readonly string[], to: (path: string) => string): Files {
  return { ...without(files, paths), ...Object.fromEntries(paths.map((path) => [to(path), files[path]!])) };
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);

const deeds: Readonly<Record<string, (rng: Rng) => Deed>> = {
  move(rng) {
    const target = rng.pick(['done', 'kept/here', 'store']);
    return {
      says: `Move % into the folder ${target}, without subfolders.`,
      gold: (chosen, files) => moved(files, chosen, (path) => `${target}/${nameOf(path)}`),
      command: `mkdir -p ${target}; ${each(`mv "$f" ${target}/`)}`,
    };
  },
  copy(rng) {
    const target = rng.pick(['backup', 'copies/all']);
    return {
      says: `Copy % into the folder ${target}, without subfolders. The originals stay.`,
      gold: (chosen, files) => ({ ...files, ...moved(files, chosen, (path) => `${target}/${nameOf(path)}`) }),
      command: `mkdir -p ${target}; ${each(`cp "$f" ${target}/`)}`,
    };
  },
  remove: () => ({
    says: 'Delete %.',
    gold: (chosen, files) => without(files, chosen),
    command: each('rm "$f"'),
  }),
  rename(rng) {
    const prefix = rng.pick(['old-', 'x-', 'final-']);
    return {
      says: `Rename %: put ${prefix} before the name. Each stays in its folder.`,
      gold: (chosen, files) =>
        moved(
          files,
          chosen,
          (path) => path.slice(0, path.length - nameOf(path).length) + prefix + nameOf(path),
        ),
      command: each(`mv "$f" "$(dirname "$f")/${prefix}$(basename "$f")"`),
    };
  },
  merge: () => ({
    says: 'Write the contents of % into the file merged.out, one after another in the order of their paths (byte by byte). Change no other file.',
    gold: (chosen, files) => ({ ...files, 'merged.out': chosen.map((path) => files[path]).join('') }),
    command: `${each('cat "$f"')} > merged.out`,
  }),
  list: () => ({
    says: 'Write the paths of % into the file paths.out, a path on each line, in their order byte by byte, each relative to the working folder and without ./ before it. Change no other file.',
    gold: (chosen, files) => ({ ...files, 'paths.out': `${chosen.join('\n')}\n` }),
    command: "sed 's|^\\./||' /tmp/chosen > paths.out",
  }),
  count: () => ({
    says: 'Count the lines of %, and write the total, only the number, into the file count.out. Change no other file.',
    gold(chosen, files) {
      const count = chosen.reduce((total, path) => total + linesOf(files[path]!).length, 0);
      return { ...files, 'count.out': `${count}\n` };
    },
    command: `${each('cat "$f"')} | wc -l | tr -d ' ' > count.out`,
  }),
  replace(rng) {
    const [old, fresh] = [rng.pick(words), rng.pick(['NORTH', 'SOUTH'])];
    return {
      says: `In %, replace each word ${old} by ${fresh}. Change no other file.`,
      gold: (chosen, files) => ({
        ...files,
        ...Object.fromEntries(chosen.map((path) => [path, files[path]!.replaceAll(old, fresh)])),
      }),
      command: each(`sed -i 's/${old}/${fresh}/g' "$f"`),
    };
  },
};

export function drawFolderTask(rng: Rng): Drawn {
  const [choiceName, deedName] = [rng.pick(Object.keys(choices)), rng.pick(Object.keys(deeds))];
  const [choice, deed] = [choices[choiceName]!(rng), deeds[deedName]!(rng)];
  const files = drawFiles(rng);
  const chosen = Object.keys(files)
    .filter((path) => choice.fits(path, files[path]!))
    .sort();
  if (chosen.length < 2 || Object.keys(files).length - chosen.length < 2) return undefined;
  const gold = deed.gold(chosen, files);
  if (
    chosen.every((path) => gold[path] === files[path]) &&
    Object.keys(gold).length === Object.keys(files).length
  )
    return undefined;
  return {
    parts: [choiceName, deedName],
    task: {
      prompt: deed.says.replace('%', choice.says),
      files,
      gold,
      commands: [`${choice.command} | LC_ALL=C sort > /tmp/chosen`, deed.command],
    },
  };
}

/** Draws a task. Each combination of parts belongs to one split. */
export function drawTask(rng: Rng, split: Split): TerminalTask {
  const family = rng.pick([drawFolderTask, drawTableTask]);
  for (;;) {
    const drawn = family(rng);
    if (drawn && splitOf(drawn.parts) === split) return drawn.task;
  }
}

/** Six in ten combinations are for training. */
function splitOf(parts: readonly string[]): Split {
  const share = deriveSeed(0, 'terminal', ...parts) % 10;
  if (share < 6) return 'train';
  return share < 8 ? 'validation' : 'test';
}
