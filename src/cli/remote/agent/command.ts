import { isIP } from 'node:net'
import { MAX_RESERVED_UNITS } from '../../../domain/basics/bounds.ts'
import { type Arguments, UsageError } from '../../arguments.ts'
import type { Command } from '../../command.ts'
import { EXIT_CODES, HELP_OPTION } from '../../help.ts'
import { CONNECTION_OPTIONS, DEFAULT_URL, readAddresses } from '../profiles.ts'
import type { ListenAddress } from './agent.ts'
import type { DebtOptions } from './debts.ts'
import type { LeaseOptions } from './leases.ts'

const DEFAULT_LISTEN = '127.0.0.1:8090'
const DEFAULT_LEASE_UNITS = 100
const ON_UNKNOWN = ['charge', 'release'] as const

export const AGENT_COMMAND: Command = {
  name: 'agent',
  summary:
    'Runs an agent until SIGTERM or SIGINT: it takes the calls of senders on this machine, and passes them on as batches.',
  more: () => `Its callers need no token, so it listens on this machine only. With a journal, it allows messages while the service is away,
and charges them when it is back, for which its token also needs the role force. With --lease, it answers for busy users from units that it
has reserved ahead, and the service has no record of each message. More: docs/agent.md

${EXIT_CODES}`,
  options: {
    listen: { value: 'HOST:PORT', means: `where it listens, on this machine only; default ${DEFAULT_LISTEN}` },
    socket: { value: 'PATH', means: 'listen on this socket instead; who may connect is what the umask leaves' },
    journal: {
      value: 'FILE',
      means: 'keep messages that are allowed while the service is away in FILE, on a local disk',
    },
    'allow-with-debt': {
      value: 'TYPES',
      means: 'allow messages of these types while the service is away, such as otp,alert, or all; needs --journal',
    },
    'on-unknown': {
      value: 'WHAT',
      values: ON_UNKNOWN,
      means: 'what to do with an allowed message that is neither committed nor released in time; default charge',
    },
    lease: {
      value: 'TYPES',
      means:
        'for users who send often, reserve units ahead and answer consume from these, for messages of these types, or all; read docs/agent.md first',
    },
    'lease-units': {
      value: 'UNITS',
      means: `how many units to reserve ahead at a time, of a user, country and type; default ${DEFAULT_LEASE_UNITS}; needs --lease`,
    },
    'allow-force': {
      means:
        'let every program that reaches the agent book units past any limit (force), if its token has the role force',
    },
    list: {
      means: 'print the messages in --journal that are not charged yet, and start nothing; an agent may run on it',
    },
    json: { means: 'with --list, print a line of JSON for each' },
    ...CONNECTION_OPTIONS,
    url: {
      value: 'URLS',
      means: `where the service is; of several processes on one database, all their URLs with commas between them; default SMS_QUOTA_URL, or ${DEFAULT_URL}`,
    },
    ...HELP_OPTION,
  },
  examples: [
    'sms-quota agent',
    'sms-quota agent --url http://quota-1.internal:8080,http://quota-2.internal:8080',
    'sms-quota agent --socket /run/sms-quota/agent.sock --profile production',
    'sms-quota agent --journal /var/lib/sms-quota/agent.journal --allow-with-debt otp,alert',
    'sms-quota agent --lease marketing --lease-units 500',
    'sms-quota agent --list --journal /var/lib/sms-quota/agent.journal',
  ],
  async run(args, terminal) {
    if (args.has('list')) {
      const path = listedJournal(args)
      const { listDebts } = await import('./list-debts.ts')
      return listDebts(path, args.has('json'), terminal)
    }
    if (args.has('json')) throw new UsageError('--json needs --list')
    const service = readAddresses(args, terminal.env)
    const place = listenAddressOf(args)
    const debts = debtsOf(args)
    const leases = leasesOf(args)
    const { runAgent } = await import('./agent.ts')
    const log = (line: string) => terminal.complain(`sms-quota agent: ${line}`)
    return runAgent({ service, place, debts, leases, allowForce: args.has('allow-force'), log }, terminal)
  },
}

const STARTING = ['listen', 'socket', 'allow-with-debt', 'on-unknown', 'lease', 'lease-units', 'allow-force'] as const

/** The journal to list. @throws UsageError */
function listedJournal(args: Arguments): string {
  const other = STARTING.find(option => args.has(option))
  if (other !== undefined) throw new UsageError(`--list starts no agent: give it --journal FILE, and no --${other}`)
  const path = args.one('journal')
  if (path === undefined) throw new UsageError('--list needs --journal FILE, where the messages are kept')
  return path
}

/** @throws UsageError */
function listenAddressOf(args: Arguments): ListenAddress {
  const path = args.one('socket')
  if (path !== undefined) {
    if (args.has('listen')) throw new UsageError('give --listen or --socket, not both')
    return { path }
  }
  const text = args.one('listen') ?? DEFAULT_LISTEN
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? []
  const name = bracketed ?? plain
  const port = Number(digits)
  if (!name || port > 65_535) throw new UsageError(`--listen is HOST:PORT, such as ${DEFAULT_LISTEN}, not "${text}"`)
  const host = name === 'localhost' ? '127.0.0.1' : name
  if (host !== '::1' && !(isIP(host) === 4 && host.startsWith('127.'))) {
    throw new UsageError(
      `the agent needs no token from its callers, so it listens on this machine only: --listen with a host of 127.0.0.1, [::1] or localhost, not "${name}"`,
    )
  }
  return { host, port }
}

/** @throws UsageError */
function debtsOf(args: Arguments): DebtOptions | undefined {
  const path = args.one('journal')
  const list = args.one('allow-with-debt')
  const onUnknown = args.one('on-unknown')
  const known = ON_UNKNOWN.find(what => what === onUnknown)
  if (onUnknown !== undefined && known === undefined) {
    throw new UsageError(`--on-unknown is ${ON_UNKNOWN.join(' or ')}, not "${onUnknown}"`)
  }
  if (path === undefined) {
    const needing = list !== undefined ? '--allow-with-debt' : onUnknown !== undefined ? '--on-unknown' : undefined
    if (needing !== undefined) throw new UsageError(`${needing} needs --journal FILE, where the messages are kept`)
    return undefined
  }
  if (list === undefined) {
    throw new UsageError('--journal needs --allow-with-debt with the types of messages to allow, such as otp, or all')
  }
  return { path, types: typesOf('allow-with-debt', list), onUnknown: known ?? 'charge' }
}

/** @throws UsageError */
function leasesOf(args: Arguments): LeaseOptions | undefined {
  const list = args.one('lease')
  const digits = args.one('lease-units')
  if (list === undefined) {
    if (digits !== undefined) throw new UsageError('--lease-units needs --lease with the types of messages, or all')
    return undefined
  }
  const units = Number(digits ?? DEFAULT_LEASE_UNITS)
  if (!(Number.isSafeInteger(units) && units >= 1 && units <= MAX_RESERVED_UNITS)) {
    throw new UsageError(`--lease-units is a whole number from 1 to ${MAX_RESERVED_UNITS}, not "${digits}"`)
  }
  return { types: typesOf('lease', list), units }
}

/** @throws UsageError */
function typesOf(option: string, list: string): readonly string[] | 'all' {
  const types = list.split(',')
  const wrong = types.find(type => !/^[a-z0-9][a-z0-9_-]{0,63}$/.test(type))
  if (wrong !== undefined) {
    throw new UsageError(`--${option} is a list of message types, such as otp,alert, or all; "${wrong}" is none`)
  }
  return types.includes('all') ? 'all' : types
}
