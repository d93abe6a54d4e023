#!/usr/bin/env node
/** The `create-toolenv` command. */
import { run } from './run.ts';

process.exitCode = await run(process.argv.slice(2));
