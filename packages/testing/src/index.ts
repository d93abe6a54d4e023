/** @toolenv/testing: the conformance kit, for any test runner. */

export { type WireSchemaName, wireSchemas } from '@toolenv/core/schemas';
export type { Certificate, CertificateReport, Learned } from './certify/certificate.ts';
export { type CertifyEnvOptions, certifyEnv } from './certify/certify-env.ts';
export type { PanelScores, PlayerScore } from './certify/panel-scores.ts';
export { type CheckPluginOptions, checkPlugin } from './check-plugin.ts';
export { type CheckPolicyOptions, checkPolicy } from './check-policy.ts';
export { type CheckSandboxOptions, checkSandbox } from './check-sandbox.ts';
export { type CheckScorerOptions, checkScorer } from './check-scorer.ts';
export { type CheckToolOptions, checkTool } from './check-tool.ts';
export { type CheckTrajectoryOptions, checkTrajectory, checkTrajectoryFile } from './check-trajectory.ts';
export { type CheckEnvOptions, checkEnv } from './env/check-env.ts';
export { type FuzzOptions, fuzzActions, randomCall, validCalls } from './env/fuzz-actions.ts';
export { type CheckLearnerOptions, checkLearner } from './learner/check-learner.ts';
export { assertConforms, type CheckOptions, type Finding, type Report, reportText } from './report.ts';
export { type RuleId, rules } from './rules.ts';
export { brokenArguments, schemaValues } from './schema-values.ts';
export { BanditModel, type BanditOptions, type BanditTask, openBandit } from './trainer/bandit-model.ts';
export { type CheckTrainerOptions, checkTrainer } from './trainer/check-trainer.ts';
export {
  type CompareTrainersOptions,
  compareTrainers,
  playsToLearn,
  type TrainerShare,
} from './trainer/compare-trainers.ts';
