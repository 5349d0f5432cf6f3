import { type Arguments, UsageError } from '../arguments.ts'
import { progressLine } from '../on-database.ts'
import { importFile } from './import.ts'
import type { Service } from './service.ts'

/** Runs the command `import`. @returns the exit code */
export function runImport(args: Arguments): Promise<number> {
  return importFile(
    { file: args.operand, service: readService(args), dryRun: args.has('dry-run') },
    {
      print: text => process.stdout.write(text),
      complain: line => process.stderr.write(`${line}\n`),
      progress: progressLine(),
    },
  )
}

/** @throws UsageError */
function readService(args: Arguments): Service {
  const url = args.one('url') ?? (process.env.SMS_QUOTA_URL || 'http://127.0.0.1:8080')
  const token = args.one('token') ?? process.env.SMS_QUOTA_TOKEN
  if (!URL.canParse(url)) throw new UsageError(`--url is the address of the service, such as http://127.0.0.1:8080`)
  if (!token) throw new UsageError('a token is missing: set SMS_QUOTA_TOKEN, or give --token')
  return { url: url.replace(/\/+$/, ''), token }
}
