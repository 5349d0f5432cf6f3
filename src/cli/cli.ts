/** The command line `sms-quota`. Results go to stdout, messages to stderr. */
import { dispatch } from './dispatch.ts'
import { processTerminal } from './terminal.ts'

process.exitCode = await dispatch(process.argv.slice(2), processTerminal())
