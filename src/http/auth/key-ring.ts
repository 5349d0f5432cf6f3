import type { JWTVerifyGetKey } from 'jose'

/** A key and the algorithms that it may be used with. A token cannot choose others. */
export interface PinnedKey {
  algorithms: readonly string[]
  keyFor: JWTVerifyGetKey
}

/** The keys that tokens are verified with: one, or two while it is being replaced. */
export interface KeyRing {
  /** The current key first. */
  keys(): readonly PinnedKey[]
  /** Reads keys again that have changed where they are stored. Resolves to whether one did. */
  refresh(): Promise<boolean>
}
