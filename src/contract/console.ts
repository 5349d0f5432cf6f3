/** What the console asks of the service beside the API: how people sign in. */
export interface ConsoleConfig {
  /** The provider that they may sign in through; null: they paste a token. */
  oidc: { issuer: string; client_id: string; scope: string } | null
}
