/** The rows of the table of variables for tokens and roles. */
import { MASK, maskUrl, parseJwksUrl, parseSecret, parseText, parseWord } from './parse.ts'
import { anyText, keyPath, oneWord, text, type Variable, wholeNumber } from './variable.ts'

export const AUTH_VARIABLES = {
  AUTH_SECRET: {
    means: 'the secret that tokens are signed with (HS256)',
    accepts: 'at least 32 bytes, for example the output of `openssl rand -base64 48`',
    unset: 'a secret that the service makes in DATA_DIR, unless another key is set',
    mask: () => MASK,
    secret: true,
    parse: parseSecret,
  },
  AUTH_SECRET_PREVIOUS: {
    means: 'the secret that AUTH_SECRET replaces: its tokens are accepted, too, while you replace it',
    accepts: 'at least 32 bytes',
    mask: () => MASK,
    secret: true,
    parse: parseSecret,
  },
  AUTH_PUBLIC_KEY_FILE: {
    means:
      'the file of the public key that tokens are verified with (RSA: RS256, P-256: ES256, Ed25519: EdDSA), read again when it changes',
    accepts: 'the path of a PEM public key, an X.509 certificate or a JWK',
    ...keyPath,
  },
  AUTH_PUBLIC_KEY_FILE_PREVIOUS: {
    means: 'the file of the key that AUTH_PUBLIC_KEY_FILE replaces: its tokens are accepted, too, while you replace it',
    accepts: 'the path of a PEM public key, an X.509 certificate or a JWK',
    ...keyPath,
  },
  AUTH_JWKS_URL: {
    means: 'the URL of the key set (JWKS) of your identity provider, fetched again when its keys rotate',
    accepts: 'an https URL without user and password (http only for the local machine)',
    mask: maskUrl,
    parse: parseJwksUrl,
  },
  AUTH_ISSUER: {
    means: 'the issuer (iss) that a token must have',
    ...text,
    unset: 'any issuer is accepted; required with AUTH_JWKS_URL',
  },
  AUTH_AUDIENCE: {
    means: 'the audience (aud) that a token must have; of a token without one, its client_id counts',
    ...text,
    unset: 'any audience is accepted; required with AUTH_JWKS_URL',
  },
  AUTH_TOKEN_TYPE: {
    means:
      'the type (typ) that a token must have in its header, such as at+jwt, so that no other token of the provider passes',
    accepts: oneWord,
    unset: 'any type is accepted',
    parse: parseWord,
  },
  AUTH_USER_CLAIM: {
    means: 'the claim that contains the user id, by name or dotted path',
    ...text,
    unset: 'sub, or no claim if AUTH_USER_REF_CLAIM is set: the subjects of a provider may be numbers of its own',
  },
  AUTH_USER_REF_CLAIM: {
    means:
      'the claim that contains the reference of the user, by name or dotted path, such as sub; of a token that has a user id, too, the id counts',
    accepts: `${anyText}, and another claim than AUTH_USER_CLAIM`,
    unset: 'no token names its user by a reference',
    parse: parseText,
  },
  AUTH_ROLES_CLAIM: {
    means:
      'the claim that contains the roles, by name or dotted path, such as realm_access.roles or scope: a list, a text with spaces or commas, or an object with the roles as its keys',
    ...text,
    fallback: 'roles',
  },
  AUTH_ADMIN_ROLE: {
    means: 'the role that may call /api/sms/admin',
    ...text,
    fallback: 'sms-quota:admin',
  },
  AUTH_SENDER_ROLE: {
    means: 'the role that may call /api/sms/sender',
    ...text,
    fallback: 'sms-quota:sender',
  },
  AUTH_AUDITOR_ROLE: {
    means: 'the role that may read everything under /api/sms/admin, and change nothing',
    ...text,
    fallback: 'sms-quota:auditor',
  },
  AUTH_SUPPORT_ROLE: {
    means:
      'the role that may read under /api/sms/admin, without exports, and adjust quotas by up to SUPPORT_ADJUST_LIMIT',
    ...text,
    fallback: 'sms-quota:support',
  },
  AUTH_FORCE_ROLE: {
    means: 'the role that a sender needs besides its own to book units past any limit (force)',
    ...text,
    fallback: 'sms-quota:force',
  },
  AUTH_SENDER_USERS_CLAIM: {
    means:
      'the claim that lists the users that a sender may name (user ids, or * for all), by name or dotted path; a token without it may name none',
    ...text,
    unset: 'each sender may name all users',
  },
  SUPPORT_ADJUST_LIMIT: {
    means:
      'the maximum number of units by which the support role may move the limits of a user in 24 hours, by all its changes together; 0 means none',
    ...wholeNumber(0, 1_000_000_000_000),
    fallback: '1000',
  },
} as const satisfies Record<string, Variable<unknown>>
