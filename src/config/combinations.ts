import { isUnencrypted } from './database-url.ts'
import { NAMES, type Name } from './variables.ts'

/** One mistake in the configuration. The message never contains a secret. */
export interface ConfigIssue {
  variable: string
  message: string
}

/** The text of a variable that is set. */
export type TextOf = (name: Name) => string | undefined

const KEY_NAMES = ['AUTH_SECRET', 'AUTH_PUBLIC_KEY_FILE', 'AUTH_JWKS_URL'] as const
const PREVIOUS_KEYS = [
  ['AUTH_SECRET_PREVIOUS', 'AUTH_SECRET'],
  ['AUTH_PUBLIC_KEY_FILE_PREVIOUS', 'AUTH_PUBLIC_KEY_FILE'],
] as const
const MAIL_TO_USERS = ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL'] as const
const ROLE_NAMES = NAMES.filter(name => /^AUTH_[A-Z]+_ROLE$/.test(name))

/** The issues of variables that do not go together. */
export function issuesBetween(textOf: TextOf, values: ReadonlyMap<Name, unknown>, needsKey: boolean): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  const issue = (variable: string, message: string) => issues.push({ variable, message })
  const isSet = (name: Name): boolean => textOf(name) !== undefined

  if (isSet('TLS_CERT_FILE') !== isSet('TLS_KEY_FILE')) issue('TLS_CERT_FILE, TLS_KEY_FILE', 'each requires the other')
  const keys = KEY_NAMES.filter(isSet)
  if (keys.length > 1) issue(keys.join(', '), 'only one of them can be set, so that it is clear which key is trusted')
  if (isSet('AUTH_JWKS_URL') && !isSet('AUTH_ISSUER')) {
    issue('AUTH_ISSUER', 'is required with AUTH_JWKS_URL, because a provider may serve its keys to several issuers')
  }
  if (isSet('AUTH_JWKS_URL') && !isSet('AUTH_AUDIENCE')) {
    issue('AUTH_AUDIENCE', 'is required with AUTH_JWKS_URL, because its keys sign tokens for other services too')
  }
  for (const [name, current] of PREVIOUS_KEYS) {
    if (isSet(name) && !isSet(current)) issue(name, `requires ${current}, the key that replaces it`)
  }
  const url = values.get('DATABASE_URL')
  if (typeof url === 'string' && values.get('DATABASE_TLS') === 'required' && isUnencrypted(url)) {
    issue(
      'DATABASE_URL',
      'would reach another machine without verified encryption; add ?sslmode=verify-full (and &sslrootcert=FILE for a CA of your own), or set DATABASE_TLS=off on a network that you trust',
    )
  }
  if (needsKey && isSet('DATABASE_URL') && keys.length === 0) {
    issue(
      KEY_NAMES.join(', '),
      'one of them is required with DATABASE_URL; the service makes a secret only beside its own database',
    )
  }
  if (isSet('AUTH_USER_REF_CLAIM') && values.get('AUTH_USER_REF_CLAIM') === values.get('AUTH_USER_CLAIM')) {
    issue('AUTH_USER_REF_CLAIM', 'is the same as AUTH_USER_CLAIM: a reference of digits would be taken for an id')
  }
  for (const [index, name] of ROLE_NAMES.entries()) {
    const same = ROLE_NAMES.slice(0, index).find(other => values.has(name) && values.get(other) === values.get(name))
    if (same !== undefined) issue(name, `is the same as ${same}: every token with one role would have both`)
  }
  if (isSet('SECRETS_KEY_PREVIOUS') && isSet('DATABASE_URL') && !isSet('SECRETS_KEY')) {
    issue('SECRETS_KEY_PREVIOUS', 'requires SECRETS_KEY with DATABASE_URL; set that to a new key, or to off')
  }
  if (isSet('SMTP_URL') !== isSet('MAIL_FROM')) issue('SMTP_URL, MAIL_FROM', 'each requires the other')
  if (values.get('USER_NOTIFICATIONS') === true) {
    const missing = MAIL_TO_USERS.filter(name => !isSet(name))
    if (missing.length > 0) issue('USER_NOTIFICATIONS', `requires ${missing.join(' and ')}`)
    if (values.get('SECRETS_KEY') === 'off' || (isSet('DATABASE_URL') && !isSet('SECRETS_KEY')))
      issue('USER_NOTIFICATIONS', 'requires SECRETS_KEY: the key that signs the links in messages is stored encrypted')
  }
  if (isSet('CONSOLE_OIDC_ISSUER') !== isSet('CONSOLE_OIDC_CLIENT_ID')) {
    issue('CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID', 'each requires the other')
  }
  if (isSet('CONSOLE_OIDC_ISSUER') && needsKey) {
    const issuer = textOf('AUTH_ISSUER')
    if (issuer !== undefined && issuer !== textOf('CONSOLE_OIDC_ISSUER')) {
      issue('CONSOLE_OIDC_ISSUER', 'is not AUTH_ISSUER: no token of this provider would be accepted')
    }
    if (keys.length === 0) {
      issue(
        'CONSOLE_OIDC_ISSUER',
        'requires AUTH_JWKS_URL or AUTH_PUBLIC_KEY_FILE, which the tokens of this provider are verified with',
      )
    }
  }
  return issues
}
