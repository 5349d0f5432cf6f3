import {
  AuthorizationResponseError,
  JWT_TIMESTAMP_CHECK,
  OperationProcessingError,
  ResponseBodyError,
} from 'oauth4webapi'
import { SignInFailed } from './provider.ts'

/** Provider errors (RFC 6749, OpenID Connect Core) that the user can act on. */
const MESSAGES: Record<string, string> = {
  access_denied: 'Access was denied, or you canceled the sign-in.',
  login_required: 'Sign in at the identity provider first.',
  consent_required: 'The identity provider needs your consent first.',
  temporarily_unavailable: 'The identity provider is temporarily unavailable.',
  invalid_grant: 'The sign-in has expired. Try again.',
}

/** The message of a failed sign-in. */
export function signInErrorMessage(error: unknown): string {
  if (error instanceof SignInFailed) return error.message
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const { error: code, error_description: description } = error
    return MESSAGES[code] ?? `The identity provider rejected the sign-in: ${description ?? code}`
  }
  if (error instanceof OperationProcessingError) {
    if (error.code === JWT_TIMESTAMP_CHECK)
      return 'The clock of this computer differs from that of the identity provider.'
    return 'The response does not match the sign-in that was started in this tab.'
  }
  return 'The identity provider is not responding. Try again later.'
}
