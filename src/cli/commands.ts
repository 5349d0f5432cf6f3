/** Every command of `sms-quota`: the dispatch and the help are made from this table. */
import { configVariables, describeConfig } from '../config/config.ts'
import { readPublicKey } from '../http/auth/keys.ts'
import type { Arguments, Options } from './arguments.ts'
import { readConfig } from './environment.ts'
import { table } from './help.ts'
import { token } from './token.ts'

export interface Command {
  name: string
  /** One line, beginning with a verb. */
  summary: string
  /** What else help says, if anything. */
  more?: () => string
  options: Options
  examples: readonly string[]
  /** @returns the exit code. */
  run(args: Arguments): Promise<number>
}

const COMMON: Options = {
  'env-file': { value: 'FILE', means: 'read variables from FILE too; the environment wins over it' },
  help: { short: 'h', means: 'show this help' },
}

export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Runs the service until SIGTERM or SIGINT, on a PostgreSQL of its own or the one of DATABASE_URL.',
    more: () => '"sms-quota config --help" lists the variables that configure it.',
    options: COMMON,
    examples: [
      'sms-quota serve',
      'PORT=9000 LOG_LEVEL=debug sms-quota serve',
      'sms-quota serve --env-file /etc/sms-quota.env',
    ],
    async run(args) {
      const config = readConfig(args)
      const { serve } = await import('../main.ts')
      return serve(config)
    },
  },
  {
    name: 'migrate',
    summary: 'Brings the database to the schema of this version, and exits. "serve" does so at its start, too.',
    options: COMMON,
    examples: ['sms-quota migrate', 'DATABASE_URL=postgres://sms:secret@db.example/sms sms-quota migrate'],
    async run(args) {
      const config = readConfig(args, { needsKey: false })
      const { migrateOnly } = await import('../main.ts')
      return migrateOnly(config)
    },
  },
  {
    name: 'verify',
    summary: 'Proves, beside the running service, that all counters equal their ledger; else tells what differs.',
    more: () =>
      'Exit codes: 0 all are equal, 1 some differ (stdout tells which), or it cannot be told (stderr says why).',
    options: { user: { value: 'ID', means: "looks at this user's quotas only" }, ...COMMON },
    examples: ['sms-quota verify', 'sms-quota verify --user 7', 'sms-quota verify --env-file /etc/sms-quota.env'],
    async run(args) {
      const { verify } = await import('./verify.ts')
      return verify(args)
    },
  },
  {
    name: 'token',
    summary: 'Prints a token signed with AUTH_SECRET, or else with the secret that the service made for itself.',
    options: {
      user: { value: 'ID', means: 'the user it speaks for: a whole number' },
      subject: { value: 'NAME', means: 'the name of a machine that is no user, such as a gateway' },
      role: { value: 'ROLE', multiple: true, means: 'admin or sender, or the full name of either; may be repeated' },
      ttl: { value: 'TIME', means: 'how long it is good: 90s, 15m, 1h (the default), 30d' },
      ...COMMON,
    },
    examples: [
      'sms-quota token --user 7',
      'sms-quota token --user 1 --role admin --ttl 8h',
      'sms-quota token --subject gateway-1 --role sender --ttl 30d',
      'curl -H "Authorization: Bearer $(sms-quota token --user 7)" http://127.0.0.1:8080/api/sms/quota/summary',
    ],
    run: token,
  },
  {
    name: 'config',
    summary: 'Checks the configuration and prints the settings that hold, with secrets masked.',
    more: () => {
      const rows = configVariables().map(({ name, means, accepts, fallback, unset }) => {
        const without = fallback === null ? `Without it: ${unset ?? 'not used'}.` : `Default: ${fallback}`
        return [name, `${means}\nAccepted: ${accepts}.\n${without}`]
      })
      return `Variables; an empty one counts as not set:\n${table(rows)}`
    },
    options: COMMON,
    examples: ['sms-quota config', 'sms-quota config --env-file /etc/sms-quota.env'],
    async run(args) {
      const config = readConfig(args)
      // The one setting whose fault shows only when its file is read.
      if (config.auth.key.kind === 'public-key') await readPublicKey(config.auth.key.file)
      const rows = describeConfig(config).map(({ name, value, unset }) => [
        name,
        value ?? (unset === null ? '(not set)' : `(not set: ${unset})`),
      ])
      process.stdout.write(table(rows, ''))
      return 0
    },
  },
]
