/** @toolenv/testing: the conformance kit, for any test runner. */

export { type WireSchemaName, wireSchemas } from '@toolenv/core/schemas';
export { type CheckEnvOptions, checkEnv } from './check-env.ts';
export { type CheckLearnerOptions, checkLearner } from './check-learner.ts';
export { checkPlugin } from './check-plugin.ts';
export { type CheckPolicyOptions, checkPolicy } from './check-policy.ts';
export { type CheckToolOptions, checkTool } from './check-tool.ts';
export { type CheckTrajectoryOptions, checkTrajectory, checkTrajectoryFile } from './check-trajectory.ts';
export { type FuzzOptions, fuzzActions, validCalls } from './fuzz-actions.ts';
export { assertConforms, type CheckOptions, type Finding, type Report, reportText } from './report.ts';
export { type RuleId, rules } from './rules.ts';
export { brokenArguments, schemaValues } from './schema-values.ts';
