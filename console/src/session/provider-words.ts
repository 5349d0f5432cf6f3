import {
  AuthorizationResponseError,
  JWT_TIMESTAMP_CHECK,
  OperationProcessingError,
  ResponseBodyError,
} from 'oauth4webapi'
import { SignInFailed } from './provider.ts'

/** Errors of a provider (RFC 6749, OpenID Connect Core) about which people can do something. */
const REFUSALS: Record<string, string> = {
  access_denied: 'You were not let in, or did not agree.',
  login_required: 'The provider wants you to sign in there first.',
  consent_required: 'The provider wants you to agree first.',
  temporarily_unavailable: 'The provider cannot sign you in at the moment.',
  invalid_grant: 'The provider does not accept this sign-in any more; it may have taken too long.',
}

/** What went wrong on the way through the provider, in words for people. */
export function wordsFor(error: unknown): string {
  if (error instanceof SignInFailed) return error.message
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const { error: code, error_description: description } = error
    return REFUSALS[code] ?? `The provider refuses it: ${description ?? code}`
  }
  if (error instanceof OperationProcessingError) {
    if (error.code === JWT_TIMESTAMP_CHECK) return 'The clocks of the provider and of this computer do not agree.'

    return 'The answer does not belong to the sign-in that was begun in this tab, so it was not used.'
  }
  return 'The provider does not answer. Try again in a moment.'
}
