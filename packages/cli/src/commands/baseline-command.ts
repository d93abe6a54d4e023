/** `toolenv baseline`: scores a policy as a baseline of retrieval papers, and compares it with a trained policy. */
import { ToolEnvError } from '@toolenv/core';
import { baselinePolicy } from '@toolenv/training';
import { type BaselineKind, baselineKinds, type Placement, placements } from '@toolenv/training/runs';
import { Option } from 'commander';
import { addPluginFlags } from '../flags/plugin-flags.ts';
import { environmentHelp } from '../run/open-run.ts';
import { isKnownPlayer } from '../subject/known-player.ts';
import type { MakeCommand } from './commands.ts';
import { addEvaluationFlags, type Entrant, type EvaluationFlags, evaluateEntrants } from './eval-command.ts';

interface BaselineFlags extends EvaluationFlags {
  kind: BaselineKind;
  policy: string;
  against?: string;
  placement: Placement;
  instruction?: string;
}

export const make: MakeCommand = async (command, { words, signal }) => {
  command
    .description(
      'Plays the first tasks of a split with a policy as a baseline, and reports the scores with their intervals. With --against, a trained policy plays the same tasks with the same tools, and the differences are reported.',
    )
    .argument('<environment>', environmentHelp)
    .addOption(
      new Option(
        '--kind <kind>',
        'direct: an answer without tools; naive-rag: one search for the question, then an answer; base-tool-call: the policy calls tools as it likes',
      )
        .choices(baselineKinds)
        .makeOptionMandatory(),
    )
    .requiredOption(
      '--policy <folder>',
      'policy of the baseline: Hugging Face folder, model of the Hugging Face Hub, openai:<url>#<model>, or reference; its options are flags',
    )
    .option('--against <folder>', 'trained policy to compare with; it plays as in training')
    .addOption(
      new Option(
        '--placement <place>',
        'where naive-rag puts the search results: before or after the question, or as the result of a tool call',
      )
        .choices(placements)
        .default('before'),
    )
    .option('--instruction <text>', "system message of the baseline, instead of the environment's")
    .option(
      '--out <folder>',
      'folder for trajectories.jsonl and summary.json; with --against, it has a folder for each policy',
    );
  addEvaluationFlags(command);
  const plugins = await addPluginFlags(command, words, { policies: ['policy', 'against'] });
  command.action((ref: string, given: BaselineFlags) => {
    const { kind, policy, against, placement, instruction } = given;
    if (placement !== 'before' && kind !== 'naive-rag') {
      const message = `--placement is for --kind naive-rag, and this is ${kind}: leave it out.`;
      throw new ToolEnvError('usage.arguments', message);
    }
    if (policy === 'oracle' && kind !== 'base-tool-call' && isKnownPlayer(plugins.policies[0]!.name)) {
      const message = `--policy oracle plays what the environment says, with its tools, and ${kind} plays without them: give a model, or --kind base-tool-call.`;
      throw new ToolEnvError('usage.arguments', message);
    }
    const details = [
      kind,
      ...(kind === 'naive-rag' ? [placement] : []),
      ...(instruction ? [instruction] : []),
    ];
    const baseline: Entrant = {
      policy,
      label: `${details.join(', ')}: ${policy}`,
      plugin: plugins.policies[0]!,
      adapt: (base) => baselinePolicy(kind, base, { placement, instruction }),
    };
    const trained =
      against === undefined ? [] : [{ policy: against, label: against, plugin: plugins.policies[1]! }];
    return evaluateEntrants(ref, [baseline, ...trained], given, plugins.env!, signal);
  });
};
