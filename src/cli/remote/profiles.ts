/** Where the service is, and the token for it: from options, a profile or the environment. */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Arguments, didYouMean, type Options, UsageError } from '../arguments.ts'

/** Where a service listens by default. */
export const DEFAULT_URL = 'http://127.0.0.1:8080'

export const CONNECTION_OPTIONS: Options = {
  url: { value: 'URL', means: `where the service is; default SMS_QUOTA_URL, or ${DEFAULT_URL}` },
  token: {
    value: 'TOKEN',
    means: 'what signs in; default SMS_QUOTA_TOKEN, which other users of the machine cannot see',
  },
  profile: { value: 'NAME', means: 'take both from this profile in ~/.config/sms-quota/profiles.json' },
}

export interface Address {
  url: string
  token: string
}

/** The addresses of several processes of the service. */
export interface Addresses {
  url: readonly string[]
  token: string
}

/** The profiles of a file could not be used. The message says why and never contains a token. */
export class ProfileError extends Error {}

/** The first one, if the environment or a profile names several for the agent. @throws UsageError or ProfileError */
export function readAddress(args: Arguments, env: NodeJS.Dict<string>): Address {
  const { url, token } = readAddresses(args, env)
  return { url: url[0] ?? DEFAULT_URL, token }
}

/** @throws UsageError or ProfileError */
export function readAddresses(args: Arguments, env: NodeJS.Dict<string>): Addresses {
  const name = args.one('profile')
  if (name !== undefined) {
    if (args.has('url') || args.has('token')) {
      throw new UsageError('a profile has the address and the token: give --profile, or --url and --token, not both')
    }
    const { url, token } = readProfile(name, env)
    return { url: checkUrls(url, `the url of the profile "${name}"`), token: checkToken(token) }
  }
  const token = args.one('token') ?? env.SMS_QUOTA_TOKEN
  const url = args.one('url') ?? (env.SMS_QUOTA_URL || DEFAULT_URL)
  const source = args.has('url') ? '--url' : 'SMS_QUOTA_URL'
  if (!token) {
    throw new UsageError(
      'a token is missing: set SMS_QUOTA_TOKEN, or give --profile or --token; "sms-quota token --help" shows how to make one',
    )
  }
  return { url: checkUrls(url, source), token: checkToken(token) }
}

/** @param text one, or several with commas between them */
function checkUrls(text: string, source: string): string[] {
  const urls = text.split(',').map(url => checkUrl(url.trim(), source))
  const spelled = urls.map(url => new URL(url).href)
  const double = urls.find((_, index) => spelled.indexOf(spelled[index] ?? '') < index)
  if (double !== undefined) throw new UsageError(`${source} names ${double} twice`)
  return urls
}

function checkUrl(text: string, source: string): string {
  const url = URL.parse(text)
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && /^[^?#]*$/.test(text)
  if (isAddress) return text.replace(/\/+$/, '')
  // Not the text itself: it may contain a password.
  throw new UsageError(
    `${source} is the address of the service, such as ${DEFAULT_URL}, without a user, a query or a fragment`,
  )
}

function checkToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new UsageError('the token contains a space, a line break or another character that no token has')
}

/* ── Profiles ───────────────────────────────────────────────────────────────────────────────────────────────────── */

function readProfile(name: string, env: NodeJS.Dict<string>): Address {
  const folder = env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : join(env.HOME || homedir(), '.config')
  const file = join(folder, 'sms-quota', 'profiles.json')
  const profiles = parse(readPrivate(file), file)
  const names = Object.keys(profiles)
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile === undefined) {
    throw new ProfileError(
      `${file} has no profile "${name}", only ${names.join(', ') || 'none'}${didYouMean(name, names)}`,
    )
  }
  if (!isAddress(profile)) {
    throw new ProfileError(`the profile "${name}" in ${file} needs "url" and "token", both text, and nothing else`)
  }
  return profile
}

function readPrivate(file: string): string {
  try {
    const mode = statSync(file).mode & 0o777
    if ((mode & 0o077) !== 0) {
      const octal = mode.toString(8).padStart(4, '0')
      throw new ProfileError(`others can use the tokens in ${file}, whose mode is ${octal}: run chmod 600 "${file}"`)
    }
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof ProfileError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new ProfileError(code === 'ENOENT' ? `there is no file ${file}` : `${file} cannot be read (${code})`)
  }
}

function parse(text: string, file: string): Record<string, unknown> {
  try {
    const profiles: unknown = JSON.parse(text)
    if (typeof profiles === 'object' && profiles !== null && !Array.isArray(profiles)) return { ...profiles }
  } catch {
    // The message of JSON.parse repeats a part of the text, which may be a token.
  }
  throw new ProfileError(`${file} is not a JSON object of profiles: {"local": {"url": "${DEFAULT_URL}", "token": "…"}}`)
}

function isAddress(profile: unknown): profile is Address {
  if (typeof profile !== 'object' || profile === null) return false
  const { url, token, ...others } = profile as Record<string, unknown>
  return typeof url === 'string' && typeof token === 'string' && Object.keys(others).length === 0
}
