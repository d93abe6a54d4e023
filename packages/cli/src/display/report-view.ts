/** A conformance report in a terminal: which rules are broken, what else is likely wrong, and how to fix it. */
import type { Ability } from '@toolenv/core/plugins';
import {
  type Certificate,
  type CertificateReport,
  type Finding,
  type Learned,
  type Report,
  type RuleId,
  rules,
} from '@toolenv/testing';
import { paint } from './guarded-output.ts';
import { plural } from './number-text.ts';
import { Progress, type ProgressOptions } from './progress.ts';
import { safeLine } from './terminal-text.ts';

export function reportView(report: Report | CertificateReport): string {
  const { subject, ok, findings, warnings, passed, skipped, abilities } = report;
  const certificate = 'certificate' in report ? report.certificate : undefined;
  if (abilities) return abilitiesView(subject, abilities);
  const counts = [`${plural(passed.length, 'rule')} hold${passed.length === 1 ? 's' : ''}`];
  if (findings.length > 0) counts.push(paint('red', `${findings.length} broken`));
  if (warnings.length > 0) counts.push(paint('yellow', plural(warnings.length, 'warning')));
  const head = `${markOf({ ok, warnings })} ${paint('bold', safeLine(subject))}  ${counts.join(', ')}`;
  const left = skipped.map(({ rule, reason }) =>
    paint('dim', `  – ${rule} ${rules[rule].title}: not checked, ${reason}`),
  );
  const found = findings.map((finding) => findingView(finding, cross()));
  const warned = warnings.map((warning) => findingView(warning, exclamation()));
  return [head, ...found, ...warned, ...left, ...(certificate ? panelView(certificate) : [])].join('\n');
}

/** Players that are shown. */
const shownPlayers = 5;

/** The players of the panel with the largest shares, beside the oracle. */
function panelView({ tasks, panel, learned }: Certificate): string[] {
  const best = panel.players.toSorted((a, b) => b.share - a.share).slice(0, shownPlayers);
  const rows = best.map(({ name, does, share, reward }) => {
    const shared = `${Math.round(100 * share)} %`.padStart(6);
    return `  ${shared}  ${rewardText(reward).padStart(6)}  ${name}: ${does}`;
  });
  const oracle = `   100 %  ${rewardText(panel.oracle).padStart(6)}  oracle`;
  const head = `  share   reward  of ${plural(tasks, 'task')}, the best of ${panel.players.length} players without the work`;
  return [paint('dim', head), paint('dim', oracle), ...rows, ...(learned ? [learnedLine(learned)] : [])];
}

function abilitiesView(subject: string, abilities: readonly Ability[]): string {
  const lines = abilities.map(
    ({ name, does, how }) =>
      `  ${does ? paint('green', '✔') : exclamation()} ${name.padEnd(16)}${safeLine(how)}`,
  );
  return [paint('bold', safeLine(subject)), ...lines].join('\n');
}

const cross = () => paint('red', '✘');
const exclamation = () => paint('yellow', '!');

function markOf({ ok, warnings }: Pick<Report, 'ok' | 'warnings'>): string {
  if (!ok) return cross();
  return warnings.length > 0 ? exclamation() : paint('green', '✔');
}

function findingView({ rule, title, expected, received, hint }: Finding, mark: string): string {
  const line = (name: string, text: string) => `      ${paint('dim', name.padEnd(9))}${safeLine(text)}`;
  return [
    `  ${mark} ${paint('bold', rule)} ${title}`,
    line('expected', expected),
    line('received', received),
    line('hint', hint),
  ].join('\n');
}

function rewardText(reward: number | null): string {
  return reward === null ? '–' : reward.toFixed(2);
}

/** `learned: 0.05, 0.31, 0.62, 0.74 after 0.0, 1.7, 3.3, 5.0 minutes, of 64 test tasks, by my-checkpoint`. */
function learnedLine({ policy, tasks, curve }: Learned): string {
  const rewards = curve.map(({ reward }) => rewardText(reward)).join(', ');
  const minutes = curve.map((point) => point.minutes.toFixed(1)).join(', ');
  return `  learned: ${rewards} after ${minutes} minutes, of ${plural(tasks, 'test task')}, by ${safeLine(policy)}`;
}

/** The progress bars of `toolenv check`: the rules of a subject, and the actions that fuzz it. */
export class CheckProgress {
  readonly #actions: number;
  readonly #begun: Set<RuleId> = new Set();
  #subject = '';
  /** Prefix of the rules of the subject. */
  #family = '';
  #status = '';
  #bar: { of: string; progress: Progress } | undefined;

  /** @param actions Fuzzed actions of an environment. */
  constructor(actions: number) {
    this.#actions = actions;
  }

  /** @param checked The rules that are being checked now, of which there is at least one. */
  rules(checked: readonly RuleId[], subject: string): void {
    if (subject !== this.#subject) this.#begun.clear();
    this.#subject = subject;
    const [first, last] = [checked[0]!, checked.at(-1)];
    this.#status = first === last ? `${first} ${rules[first].title}` : `${first} to ${last}`;
    // A warning comes among the rules of its subject.
    if (!first.startsWith('WARN-')) this.#family = first.replace(/\d+$/, '');
    const family = this.#family;
    const total = Object.keys(rules).filter((rule) => rule.startsWith(family)).length;
    this.#show(`${subject}, rules`, total, this.#begun.size, { isUneven: true });
    for (const rule of checked) if (rule.startsWith(family)) this.#begun.add(rule);
  }

  actions(done: number): void {
    this.#show(`${this.#subject}, actions`, this.#actions, Math.min(done, this.#actions));
  }

  players(player: string, done: number, total: number): void {
    this.#status = player;
    this.#show(`${this.#subject}, players`, total, done);
  }

  trainers(trainer: string, done: number, total: number): void {
    this.#status = trainer;
    this.#show('trainers', total, done);
  }

  /** @param share Of the time for learning. */
  learning(status: string, share: number): void {
    this.#status = status;
    this.#show(`${this.#subject}, % of the time to learn`, 100, Math.round(100 * share));
  }

  /** Removes the bar until there is something else to show. */
  stop(): void {
    this.#bar?.progress.stop();
    this.#bar = undefined;
  }

  #show(label: string, total: number, done: number, options: ProgressOptions = {}): void {
    if (this.#bar?.of !== label) {
      this.stop();
      this.#bar = { of: label, progress: new Progress(label, total, { isLate: true, ...options }) };
    }
    this.#bar.progress.update(done, this.#status);
  }
}
