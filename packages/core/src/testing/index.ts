/** @toolenv/core/testing: the conformance kit, for any test runner. */
export { type CheckEnvOptions, checkEnv } from './check-env.ts';
export { type FuzzOptions, fuzzActions, validCalls } from './fuzz-actions.ts';
export { assertConforms, type CheckOptions, type Finding, type Report, reportText } from './report.ts';
export { type RuleId, rules } from './rules.ts';
export { brokenArguments, schemaValues } from './schema-values.ts';
export { wireSchemas } from './wire-schemas.ts';
