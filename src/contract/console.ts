import type { SegmentRules } from '../domain/messages/segment-rules.ts'

/** The settings that the console reads from the service besides the API. It is not part of the OpenAPI document. */
export interface ConsoleConfig {
  /** How the service counts segments. */
  segments: SegmentRules
  /** Who helps users that cannot send, and where they reach them; null where the operator does not say. */
  contact: { text: string | null; url: string | null }
  /** The identity provider for signing in; null: users paste a token. */
  oidc: { issuer: string; client_id: string; scope: string } | null
}
