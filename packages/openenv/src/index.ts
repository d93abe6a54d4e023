/** @toolenv/openenv: environments for clients of OpenEnv, and OpenEnv environments as environments. */

export { default as openEnvV1, type OpenEnvTask } from './openenv-v1.ts';
export { type OpenEnvService, type ServeOpenEnvOptions, serveOpenEnv } from './serve-openenv.ts';
