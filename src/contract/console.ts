/** What the console reads from the service besides the API. It is not part of the OpenAPI document. */
export interface ConsoleConfig {
  /** The identity provider for signing in; null: users paste a token. */
  oidc: { issuer: string; client_id: string; scope: string } | null
}
