/** arrangeHelp: the help of a command begins with the options that matter, and ends with examples. `--help --all` has all options. */
import { type Command, Help, type Option } from 'commander';
import { plural } from '../display/number-text.ts';

/** Options that the short help has too: those of the environment that the command line names. */
const always: WeakSet<Option> = new WeakSet();

export function alwaysShow(option: Option): void {
  always.add(option);
}

/** @param isWhole Whether to show all options. */
export function arrangeHelp(command: Command, isWhole: boolean): void {
  const { first: named, examples = [] } = helpTexts[command.name()] ?? {};
  const first = named?.split(' ');
  if (first) describeHelp(command);
  if (first && isWhole) group(command);
  if (first && !isWhole) showFirst(command, first);
  if (examples.length === 0) return;
  const width = () => (process.stdout.isTTY ? process.stdout.columns || 80 : 80);
  const lines = () => examples.map((each) => wrapped(each, width())).join('\n');
  command.addHelpText('after', () => `\nExamples:\n${lines()}`);
}

function describeHelp(command: Command): void {
  command.configureHelp({
    ...command.configureHelp(),
    optionDescription(option) {
      if (option.long === '--help') return 'show this help, which has all options with --all';
      return Help.prototype.optionDescription.call(this, option);
    },
  });
}

/** Shows the options in groups: first those of the command itself, last those of plugins. */
function group(command: Command): void {
  command.configureHelp({
    ...command.configureHelp(),
    groupItems(_, items, groupOf) {
      const headingOf = (item: (typeof items)[number]) =>
        always.has(item as Option) ? groupOf(item) : (helpGroup((item as Option).long) ?? groupOf(item));
      const groups = new Map(['Options:', ...helpHeadings].map((heading) => [heading, [] as typeof items]));
      for (const item of items) groups.set(headingOf(item), [...(groups.get(headingOf(item)) ?? []), item]);
      return groups;
    },
  });
}

/** Shows the options that matter first, and the number of the others. */
function showFirst(command: Command, first: readonly string[]): void {
  const chosen = (visible: readonly Option[]) => {
    const named = first.flatMap((flag) => visible.find(({ long }) => long === flag) ?? []);
    return [...named, ...visible.filter((option) => always.has(option) || option.long === '--help')];
  };
  command.configureHelp({
    ...command.configureHelp(),
    visibleOptions(of) {
      return chosen(Help.prototype.visibleOptions.call(this, of));
    },
    groupItems(_, items, groupOf) {
      const groups = new Map<string, typeof items>([['Options:', []]]);
      for (const item of items) {
        const heading = always.has(item as Option) ? groupOf(item) : 'Options:';
        groups.set(heading, [...(groups.get(heading) ?? []), item]);
      }
      return groups;
    },
  });
  command.addHelpText('after', () => {
    const visible = Help.prototype.visibleOptions.call(command.createHelp(), command);
    const more = plural(visible.length - chosen(visible).length, 'more option');
    return `\n${more}: toolenv ${command.name()} --help --all`;
  });
}

/** A command in several lines of a shell, if it is longer than the terminal. A flag stays beside its value. */
function wrapped(text: string, width: number): string {
  const lines: string[] = [];
  let line = ' ';
  for (const part of text.split(/ (?=--)/)) {
    // Room for the mark of a line that goes on.
    if (line.trim() !== '' && line.length + 1 + part.length + 2 > width) {
      lines.push(`${line} \\`);
      line = '   ';
    }
    line += ` ${part}`;
  }
  return [...lines, line].join('\n');
}

/** What the help of each command begins and ends with. */
interface HelpText {
  /** The options that matter first, with spaces between. Absent for a command with few options, which shows them all. */
  first?: string;
  /** Command lines. */
  examples: readonly string[];
}

const bridge = '@toolenv/envs-qa/bridge-v1';
const checkpoint = 'node_modules/@toolenv/checkpoints/tiny';

/** With which the small policy learns in a minute: it reads two documents for a search. A process test runs the examples that train. */
const learning = '--env-top-k 2 --max-tokens 64 --tasks-per-step 8 --learning-rate 3e-4';

/** Options of each command that evaluates. */
const evaluating = '--out --split --count --samples --temperature --max-tokens';

/** By the name of the command. */
export const helpTexts: Readonly<Record<string, HelpText>> = {
  toolenv: {
    examples: [
      'toolenv list --details',
      `toolenv train ${bridge} --policy ${checkpoint} ${learning} --steps 6 --out runs/first`,
      'toolenv view runs',
    ],
  },
  list: { examples: ['toolenv list --kind envs', 'toolenv list --details'] },
  info: { examples: [`toolenv info ${bridge}`, `toolenv info ${bridge} --max-turns 3`] },
  eval: {
    first: `--policy ${evaluating} --against --fail-below --json`,
    examples: [
      `toolenv eval ${bridge} --policy runs/first/policy --count 100`,
      `toolenv eval ${bridge} --policy openai:http://127.0.0.1:8000/v1#my-model --out evals/mine`,
      `toolenv eval ${bridge} --policy runs/first/policy --policy ${checkpoint}`,
    ],
  },
  baseline: {
    first: `--kind --policy --instruction ${evaluating} --json`,
    examples: [`toolenv baseline ${bridge} --kind direct --policy ${checkpoint}`],
  },
  train: {
    first:
      '--policy --out --trainer --steps --tasks-per-step --group-size --learning-rate --max-tokens --resume --log-steps',
    examples: [
      `toolenv train ${bridge} --policy ${checkpoint} ${learning} --steps 6 --out runs/first`,
      `toolenv train ${bridge} --policy ${checkpoint} --steps 8 --out runs/first --resume`,
      `toolenv train ${bridge} --trainer ppo --policy ${checkpoint} --env-top-k 2 --max-tokens 64 --tasks-per-step 32 --learning-rate 1e-4 --critic-learning-rate 1e-3 --steps 12 --out runs/ppo`,
    ],
  },
  rollout: {
    first:
      '--policy --out --worker --split --count --samples --concurrency --temperature --max-tokens --json',
    examples: [
      `toolenv rollout ${bridge} --policy ${checkpoint} --out episodes --count 100 --samples 4`,
      `toolenv rollout ${bridge} --policy ${checkpoint} --out /shared/bridge --worker one`,
    ],
  },
  score: {
    first: '--rewards --out --json --env --replay',
    examples: [
      'toolenv score runs/first --rewards rewards.ts',
      'toolenv score runs/first --rewards rewards.ts --out rescored.jsonl --json',
    ],
  },
  show: {
    examples: [
      'toolenv show runs/first',
      'toolenv show runs/first --mistake --count 5',
      'toolenv show runs/first --sort reward --tokens',
    ],
  },
  view: { examples: ['toolenv view runs --open', 'toolenv view runs/first runs/ppo --export report.html'] },
  play: {
    examples: [
      `toolenv play ${bridge} --browser --open`,
      `toolenv play ${bridge} --episode runs/first:12 --turns 1`,
      `toolenv play ${bridge} --out played.jsonl`,
    ],
  },
  skill: { examples: ['toolenv skill add', 'toolenv skill add --to ~/.claude/skills'] },
  check: {
    examples: [
      `toolenv check ${bridge}`,
      'toolenv check my-env.ts --actions 100',
      `toolenv check ${bridge} --adversarial`,
      `toolenv check ${bridge} --trainers --policy ${checkpoint}`,
    ],
  },
  tools: {
    examples: [
      "toolenv tools --mcp 'npx -y @modelcontextprotocol/server-everything'",
      'toolenv tools --mcp http://127.0.0.1:3000/mcp --call echo --arguments \'{"message":"hi"}\'',
    ],
  },
  mcp: {
    examples: ['toolenv mcp login https://example.com/mcp', 'toolenv mcp logout https://example.com/mcp'],
  },
  serve: {
    first: '--http --protocol --openai --split --scores --host --token --max-sessions --concurrency --seed',
    examples: [
      `toolenv serve ${bridge} --http 8000 --protocol openenv`,
      `toolenv serve --openai ${checkpoint} --http 8000`,
    ],
  },
  capture: {
    examples: [
      'toolenv capture --upstream http://127.0.0.1:8000/v1 --api-key none --out captured.jsonl --port 4000',
    ],
  },
  tasks: {
    examples: [
      'toolenv tasks captured.jsonl --out tasks --test 0.2',
      'toolenv tasks captured.jsonl --out tasks --split-by user',
    ],
  },
  push: {
    examples: [
      'toolenv push runs/first my-name/my-model',
      'toolenv push runs/first my-name/my-model --private --revision step-200',
    ],
  },
  data: { examples: ['toolenv data hotpotqa --dir data'] },
  index: {
    examples: [
      'toolenv index passages.jsonl --out index',
      'toolenv index corpus.jsonl.gz --out index --embeddings',
    ],
  },
  init: { examples: ["toolenv init --mcp 'npx -y @modelcontextprotocol/server-everything' my-env"] },
  completion: {
    examples: [
      'toolenv completion bash >> ~/.bashrc',
      'toolenv completion fish > ~/.config/fish/completions/toolenv.fish',
    ],
  },
  doctor: { examples: ['toolenv doctor', 'toolenv doctor --sandboxes'] },
  engine: { examples: ['toolenv engine', 'toolenv engine install libtorch --yes'] },
};

/** Flags by heading. An option without a heading here stays under that of its command or plugin. */
const headings: Readonly<Record<string, string>> = {
  'Environment:': 'env-option tool prompts skill agent agent-turns agent-confine weights evaluate-on',
  'Steps and episodes:':
    'steps tasks-per-step group-size max-staleness scorer scorer-weight environment-weight',
  'Sampling:': 'temperature top-p top-k min-p max-tokens constrain-calls',
  'Limits and faults:':
    'deadline on-deadline on-bug on-images max-aborted retries concurrency budget budget-tokens',
  'Evaluation:':
    'evaluate-every evaluate-first evaluation-episodes evaluation-samples evaluation-temperature best-metric best-metric-goal patience',
  'Optimizer:':
    'learning-rate learning-rate-schedule warmup-steps warmup-ratio min-learning-rate-ratio schedule-steps adam-beta1 adam-beta2 adam-epsilon weight-decay max-grad-norm epochs mini-batches token-budget',
  'Advantages:':
    'advantage scale-rewards credit gamma zero-variance normalise-process-rewards max-completion-length overlong-buffer overlong-penalty length-penalty truncated max-resamples',
  'Loss:':
    'algorithm loss clip delta ratio-level ratio-cap sapo-temperatures vespo-positive vespo-negative beta kl-in kl-estimator kl-clamp kl-every bias-corrected-kl entropy-coefficient top-entropy-quantile off-policy-threshold mismatch-correction mismatch-cap mismatch-floor',
  'Certificate:': 'adversarial certificate panel learnable',
  'Gate:': 'fail-below against junit metric margin confidence',
  'Files:': 'record replay no-trajectories tensorboard rollouts report-to checkpoint-every keep-checkpoints',
};

const headingOf: ReadonlyMap<string, string> = new Map(
  Object.entries(headings).flatMap(([heading, flags]) =>
    flags.split(' ').map((flag) => [`--${flag}`, heading]),
  ),
);

/** The headings in their order. */
export const helpHeadings: readonly string[] = Object.keys(headings);

/** Under which heading the whole help lists an option. @param flag `--top-p`. */
export function helpGroup(flag: string | undefined): string | undefined {
  return flag === undefined ? undefined : headingOf.get(flag);
}
