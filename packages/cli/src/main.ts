#!/usr/bin/env node
/** The `toolenv` command: its errors become exit codes. */
import { runProgram } from './program.ts';
import { runAsProcess } from './run/run-as-process.ts';

await runAsProcess((signal) => runProgram(process.argv.slice(2), signal));
