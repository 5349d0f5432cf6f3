/** The commands on the machine of the service. The dispatch, the help and the completion come from this table. */
import { configVariables, describeConfig } from '../config/describe.ts'
import { ROLES } from '../domain/basics/role.ts'
import { readPublicKey } from '../http/auth/key-files.ts'
import type { Options } from './arguments.ts'
import type { Command } from './command.ts'
import { readConfig, warningsOf } from './environment.ts'
import { HELP_OPTION, table } from './help.ts'
import { token } from './token.ts'

const COMMON: Options = {
  'env-file': { value: 'FILE', means: 'also read variables from FILE; those of the environment take precedence' },
  ...HELP_OPTION,
}

export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Runs the service until SIGTERM or SIGINT, on the PostgreSQL of DATABASE_URL or on its own.',
    more: () => 'Environment variables configure the service; "sms-quota config --help" lists them.',
    options: COMMON,
    examples: [
      'sms-quota serve',
      'PORT=9000 LOG_LEVEL=debug sms-quota serve',
      'sms-quota serve --env-file /etc/sms-quota.env',
    ],
    async run(args, terminal) {
      const config = readConfig(args, terminal)
      for (const warning of warningsOf(terminal.env)) terminal.complain(warning)
      const { serve } = await import('../main.ts')
      return serve(config, args.one('env-file'))
    },
  },
  {
    name: 'migrate',
    summary:
      'Migrates the database to the schema of this version, and exits. "serve" also does so when it starts, unless MIGRATE=off.',
    options: { 'dry-run': { means: 'only print the migrations that are missing' }, ...COMMON },
    examples: [
      'sms-quota migrate',
      'sms-quota migrate --dry-run',
      'DATABASE_URL=postgres://sms:secret@db.example/sms sms-quota migrate',
    ],
    async run(args, terminal) {
      const config = readConfig(args, terminal, { needsKey: false })
      const { migrateOnly } = await import('../main.ts')
      return migrateOnly(config, { dryRun: args.has('dry-run') })
    },
  },
  {
    name: 'verify',
    summary: 'Proves from the ledger that counters, limits, usage and totals are right. The service may be running.',
    more: () => 'Exit codes: 0 no difference, 1 differences (stdout lists them) or the check failed (stderr says why).',
    options: { user: { value: 'ID', means: 'check only this user' }, ...COMMON },
    examples: ['sms-quota verify', 'sms-quota verify --user 7', 'sms-quota verify --env-file /etc/sms-quota.env'],
    async run(args, terminal) {
      const { verify } = await import('./verify.ts')
      return verify(args, terminal)
    },
  },
  {
    name: 'distribute',
    summary: 'Distributes the tables of a Citus cluster over its nodes. The service must be stopped.',
    more: () => `DATABASE_URL names the coordinator. The nodes are checked first; for each fault, the statement that mends it is printed. It
can be repeated, and must be after a node was added. Without --yes, it only checks, and the exit code is 1.`,
    options: {
      shards: { value: 'N', means: 'over how many shards, 1 to 64; later it cannot be changed' },
      yes: { means: 'do it' },
      ...COMMON,
    },
    examples: ['sms-quota distribute --shards 32', 'sms-quota distribute --shards 32 --yes'],
    async run(args, terminal) {
      const { distribute } = await import('./distribute.ts')
      return distribute(args, terminal)
    },
  },
  {
    name: 'cluster',
    summary: 'Shows the nodes of a Citus cluster, the shards with their sizes, and how even they are.',
    more: () => 'Exit codes: 0 all nodes can be used, 1 otherwise (the table says why).',
    options: { json: { means: 'print it as a line of JSON' }, ...COMMON },
    examples: ['sms-quota cluster', 'sms-quota cluster --json'],
    async run(args, terminal) {
      const { cluster } = await import('./cluster.ts')
      return cluster(args, terminal)
    },
  },
  {
    name: 'discard-secrets',
    summary: 'Replaces the secrets of webhooks that no key can decrypt any more, and disables these webhooks.',
    more: () => 'For a lost SECRETS_KEY. Without --yes, it only lists the webhooks, and the exit code is 1.',
    options: { yes: { means: 'replace the secrets' }, ...COMMON },
    examples: ['sms-quota discard-secrets', 'sms-quota discard-secrets --yes'],
    async run(args, terminal) {
      const { discardSecrets } = await import('./discard-secrets.ts')
      return discardSecrets(args, terminal)
    },
  },
  {
    name: 'backup',
    summary: 'Writes a backup of the database. The service may be running, but not on a cluster.',
    more: () => `A FILE must not exist. In a FOLDER, the file is named after the time. The file holds every row at one point in time,
compressed, with a checksum. It does not hold the keys in DATA_DIR.`,
    operands: [{ name: 'FILE|FOLDER' }],
    options: COMMON,
    examples: ['sms-quota backup /var/backups', 'sms-quota backup /var/backups/before-upgrade.backup'],
    async run(args, terminal) {
      const { backup } = await import('./backup.ts')
      return backup(args, terminal)
    },
  },
  {
    name: 'restore',
    summary: 'Restores a backup into an empty database, migrates it to this version and verifies it.',
    more: () => `The database is that of DATABASE_URL, or one that is created in DATA_DIR, which must have none. A damaged backup is refused
before anything is written. Exit codes: 0 restored without a difference, 1 otherwise (stderr says why).`,
    operands: [{ name: 'FILE' }],
    options: COMMON,
    examples: ['sms-quota restore /var/backups/before-upgrade.backup'],
    async run(args, terminal) {
      const { restore } = await import('./backup.ts')
      return restore(args, terminal)
    },
  },
  {
    name: 'upgrade-database',
    summary: 'Moves the database in DATA_DIR to the PostgreSQL of this version. The service must be stopped.',
    more: () => 'The old database is removed after the new one verifies. Meanwhile both need room, and a backup.',
    options: COMMON,
    examples: ['sms-quota upgrade-database'],
    async run(args, terminal) {
      const { upgradeDatabase } = await import('./backup.ts')
      return upgradeDatabase(args, terminal)
    },
  },
  {
    name: 'token',
    summary: 'Prints a token, signed with AUTH_SECRET or with the secret that the service made in DATA_DIR.',
    options: {
      user: { value: 'ID', means: 'the id of the user that the token is for: a whole number' },
      'user-ref': { value: 'REF', means: 'the reference of the user that the token is for, in AUTH_USER_REF_CLAIM' },
      subject: { value: 'NAME', means: 'the name of a machine that the token is for, such as a gateway' },
      role: {
        value: 'ROLE',
        multiple: true,
        values: ROLES,
        means: `${ROLES.join(', ')}, or the full name of one; can be repeated`,
      },
      name: { value: 'NAME', means: 'what the console shows instead of the subject, such as "Ann Lee"' },
      'sender-users': { value: 'IDS', means: 'the users that a sender may name, such as 7,8; * for all' },
      console: {
        value: 'URL',
        means: 'print a link that signs in to the console of the service at URL, not the token',
      },
      'new-secret': {
        means: 'while AUTH_SECRET_PREVIOUS is set, sign with AUTH_SECRET nevertheless: once all processes have both',
      },
      ttl: { value: 'TIME', means: 'how long the token is valid, such as 90s, 15m, 30d; default 1h, maximum 366d' },
      ...COMMON,
    },
    examples: [
      'sms-quota token --user 7',
      'sms-quota token --user 1 --role admin --name "Ann Lee" --ttl 8h',
      'sms-quota token --user 1 --role admin --console http://127.0.0.1:8080',
      'sms-quota token --subject gateway-1 --role sender --role force --ttl 30d',
      'curl -H "Authorization: Bearer $(sms-quota token --user 7)" http://127.0.0.1:8080/api/sms/quota/summary',
    ],
    run: token,
  },
  {
    name: 'config',
    summary: 'Checks the configuration and prints the settings in effect, with secrets masked.',
    more: () => {
      const rows = configVariables().map(({ name, means, accepts, fallback, unset }) => {
        const without = fallback === null ? `If not set: ${unset ?? 'not used'}.` : `Default: ${fallback}`
        return [name, `${means}\nAccepted: ${accepts}.\n${without}`]
      })
      return `Variables (an empty one counts as not set):\n${table(rows)}`
    },
    options: { check: { means: 'also check the database; the exit code is 1 if it does not fit' }, ...COMMON },
    examples: ['sms-quota config', 'sms-quota config --check', 'sms-quota config --env-file /etc/sms-quota.env'],
    async run(args, terminal) {
      const config = readConfig(args, terminal)
      for (const warning of warningsOf(terminal.env)) terminal.complain(warning)
      // What the account cannot read, the service cannot either.
      const { dropRootBeside } = await import('../drop-root.ts')
      await dropRootBeside(config)
      // The only settings whose mistakes show only when their files are read.
      const { key } = config.auth
      if (key.kind === 'public-key') {
        await readPublicKey(key.file)
        if (key.previous !== null) await readPublicKey(key.previous, 'AUTH_PUBLIC_KEY_FILE_PREVIOUS')
      }
      const rows = describeConfig(config).map(({ name, value, unset }) => [
        name,
        value ?? (unset === null ? '(not set)' : `(not set: ${unset})`),
      ])
      await terminal.print(table(rows, ''))
      if (!args.has('check')) return 0
      const { check } = await import('./check.ts')
      return check(config)
    },
  },
  {
    name: 'completion',
    summary: 'Prints a script that completes the commands and options of sms-quota in a shell.',
    operands: [{ name: 'SHELL', values: ['bash', 'zsh', 'fish'] }],
    options: HELP_OPTION,
    examples: [
      'source <(sms-quota completion bash)    # in ~/.bashrc',
      'source <(sms-quota completion zsh)     # in ~/.zshrc, after compinit',
      'sms-quota completion fish | source     # in ~/.config/fish/config.fish',
    ],
    async run(args, terminal) {
      const { completionOf } = await import('./completion.ts')
      const { REMOTE_COMMANDS } = await import('./remote/commands.ts')
      await terminal.print(completionOf(args.operand(0), [...COMMANDS, ...REMOTE_COMMANDS]))
      return 0
    },
  },
]
