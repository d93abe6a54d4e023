/** The attacks by area. An area, its file and its export have one name, by which `run-attack.ts` loads it. */

import { agents } from './agents.ts';
import type { Attack } from './attack.ts';
import { boundary } from './boundary.ts';
import { calls } from './calls.ts';
import { checkpoints } from './checkpoints.ts';
import { costs } from './costs.ts';
import { disk } from './disk.ts';
import { evaluations } from './evaluations.ts';
import { judges } from './judges.ts';
import { mcp } from './mcp.ts';
import { model } from './model.ts';
import { ors } from './ors.ts';
import { prompts } from './prompts.ts';
import { python } from './python.ts';
import { reports } from './reports.ts';
import { runs } from './runs.ts';
import { sandboxes } from './sandboxes.ts';
import { servers } from './servers.ts';
import { signals } from './signals.ts';
import { teachers } from './teachers.ts';
import { terminal } from './terminal.ts';
import { traffic } from './traffic.ts';

export const areas: Readonly<Record<string, readonly Attack[]>> = {
  boundary,
  model,
  calls,
  checkpoints,
  runs,
  reports,
  signals,
  disk,
  evaluations,
  costs,
  servers,
  mcp,
  ors,
  agents,
  sandboxes,
  python,
  judges,
  prompts,
  teachers,
  traffic,
  terminal,
};

/** Areas whose attacks may share a process in --quick, because an attack that comes to nothing leaves the process as it was. */
export const sharing: ReadonlySet<string> = new Set([
  'agents',
  'boundary',
  'calls',
  'checkpoints',
  'costs',
  'evaluations',
  'judges',
  'model',
  'prompts',
  'python',
  'sandboxes',
  'teachers',
  'traffic',
]);
